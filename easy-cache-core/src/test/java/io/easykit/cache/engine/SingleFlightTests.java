package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.engine.Workbench.GatedLoader;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.Held;
import io.easykit.cache.memory.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.core.type.TypeReference;

/** Readers of one key in one JVM. */
class SingleFlightTests {

    private final Workbench bench = new Workbench();
    private final EasyCacheEngine cache = bench.node();
    private final AtomicReference<String> database = new AtomicReference<>("Ada");

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void loadsOnceForAHundredReadersOfAColdKey(Consistency consistency) throws Exception {
        CacheKey<String> key = Workbench.spec(consistency).key(1);
        GatedLoader<String> loader = new GatedLoader<>(database::get);
        List<Caller<String>> readers = Workbench.call(100, () -> cache.fetch(key, loader));
        loader.awaitEntered();
        readers.forEach(Caller::awaitWaiting);
        loader.letGo();
        for (Caller<String> reader : readers) {
            assertThat(reader.result()).isEqualTo("Ada");
        }
        assertThat(loader.loads()).isEqualTo(1);
        assertThat(bench.store.count(Operation.FETCH)).isEqualTo(1);
    }

    @Test
    void givesAStrongReaderNoUnstoredValueThatWasReadBeforeItCame() throws Exception {
        CacheKey<String> key = Workbench.cp().key(1);
        GatedLoader<String> slow = new GatedLoader<>(database::get);
        Caller<String> early = Workbench.call(() -> cache.fetch(key, slow));
        slow.awaitEntered();
        database.set("Bob");
        bench.clock.advance(Duration.ofMillis(1));
        Caller<String> late =
                Workbench.call(() -> cache.fetch(key, database::get)).awaitWaiting();
        bench.store.fail(Operation.STORE, Fault.LOST_REQUEST);
        slow.letGo();
        assertThat(early.result()).isEqualTo("Ada");
        assertThat(late.result()).isEqualTo("Bob");
    }

    /** In Redis the values of two types lie side by side. */
    @ParameterizedTest
    @EnumSource(names = {"FETCH", "STORE"})
    void givesNoReaderAValueOfAnotherType(Operation lost) throws Exception {
        CacheKey<String> text = CacheSpec.of("name", String.class).key(1);
        CacheKey<Integer> number = CacheSpec.of("name", Integer.class).key(1);
        GatedLoader<String> loader = new GatedLoader<>(database::get);
        bench.store.fail(lost, Fault.LOST_REQUEST);
        Caller<String> first = Workbench.call(() -> cache.fetch(text, loader));
        loader.awaitEntered();
        Caller<Integer> second = Workbench.call(() -> cache.fetch(number, () -> 7));
        assertThat(second.result()).isEqualTo(7);
        loader.letGo();
        assertThat(first.result()).isEqualTo("Ada");
        assertThat(cache.fetch(number, () -> 7)).isEqualTo(7);
    }

    @ParameterizedTest
    @EnumSource(names = {"FETCH", "STORE"})
    void givesEachReaderAMutableValueOfItsOwn(Operation lost) throws Exception {
        CacheKey<List<String>> key = CacheSpec.<List<String>>of("names", new TypeReference<List<String>>() {}.getType())
                .key(1);
        GatedLoader<List<String>> loader = new GatedLoader<>(() -> new ArrayList<>(List.of("Ada")));
        bench.store.fail(lost, Fault.LOST_REQUEST);
        Caller<List<String>> first = Workbench.call(() -> cache.fetch(key, loader));
        loader.awaitEntered();
        Caller<List<String>> second =
                Workbench.call(() -> cache.fetch(key, loader)).awaitWaiting();
        loader.letGo();
        first.result().add("spoiled by the first");
        assertThat(second.result()).containsExactly("Ada");
        second.result().add("spoiled by the second");
        assertThat(first.result()).containsExactly("Ada", "spoiled by the first");
    }

    @Test
    void givesAStrongReaderWhatWasStoredAfterItCame() throws Exception {
        CacheKey<String> key = Workbench.cp().key(1);
        GatedLoader<String> slow = new GatedLoader<>(database::get);
        Caller<String> early = Workbench.call(() -> cache.fetch(key, slow));
        slow.awaitEntered();
        bench.clock.advance(Duration.ofMillis(1));
        Caller<String> late = Workbench.call(() -> cache.fetch(key, slow)).awaitWaiting();
        slow.letGo();
        assertThat(early.result()).isEqualTo("Ada");
        assertThat(late.result()).isEqualTo("Ada");
        assertThat(slow.loads()).isEqualTo(1);
        assertThat(bench.store.count(Operation.FETCH)).isEqualTo(1);
        assertThat(bench.store.count(Operation.READ)).isEqualTo(2);
    }

    @Test
    void givesAStrongReaderNothingThatWasSentToTheStoreBeforeItCame() throws Exception {
        CacheKey<String> key = Workbench.cp().key(1);
        Held replyOfStore = bench.store.hold(Operation.STORE);
        Caller<String> early = Workbench.call(() -> cache.fetch(key, database::get));
        replyOfStore.awaitReached();
        bench.clock.advance(Duration.ofMillis(1));
        Caller<String> late =
                Workbench.call(() -> cache.fetch(key, database::get)).awaitWaiting();
        int readsBefore = bench.store.count(Operation.READ);
        replyOfStore.release();
        assertThat(early.result()).isEqualTo("Ada");
        assertThat(late.result()).isEqualTo("Ada");
        assertThat(bench.store.count(Operation.READ)).isEqualTo(readsBefore + 1);
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void sharesAnOvertakenLoadWithAllWhoCameBeforeIt(Consistency consistency) throws Exception {
        CacheKey<String> key = Workbench.spec(consistency).key(1);
        GatedLoader<String> slow = new GatedLoader<>(database::get);
        GatedLoader<String> repeated = new GatedLoader<>(database::get);
        Caller<String> leader =
                Workbench.call(() -> cache.fetch(key, () -> slow.loads() == 0 ? slow.load() : repeated.load()));
        slow.awaitEntered();
        List<Caller<String>> readers = Workbench.call(20, () -> cache.fetch(key, () -> "never"));
        readers.forEach(Caller::awaitWaiting);
        database.set("Bob");
        bench.node().invalidate(key);
        slow.letGo();
        for (Caller<String> reader : readers) {
            assertThat(reader.result()).isEqualTo("Ada");
        }
        repeated.letGo();
        assertThat(leader.result()).isEqualTo(consistency == Consistency.AP ? "Ada" : "Bob");
        assertThat(cache.fetch(key, database::get)).isEqualTo("Bob");
    }

    @Test
    void givesNoStrongReaderAnOvertakenLoadThatBeganBeforeItCame() throws Exception {
        CacheKey<String> key = Workbench.cp().key(1);
        GatedLoader<String> slow = new GatedLoader<>(database::get);
        Caller<String> early = Workbench.call(() -> cache.fetch(key, slow));
        slow.awaitEntered();
        database.set("Bob");
        bench.node().invalidate(key);
        bench.clock.advance(Duration.ofMillis(1));
        List<Caller<String>> late = Workbench.call(20, () -> cache.fetch(key, database::get));
        late.forEach(Caller::awaitWaiting);
        slow.letGo();
        assertThat(early.result()).isEqualTo("Bob");
        for (Caller<String> reader : late) {
            assertThat(reader.result()).isEqualTo("Bob");
        }
    }

    /** With updates faster than loads a reader waits for the running load and the next one at most. */
    @Test
    void loadsTwiceForAReaderAtMostWhereEveryLoadIsOvertaken() {
        CacheKey<String> key = Workbench.cp().key(1);
        AtomicInteger loads = new AtomicInteger();
        for (int read = 1; read <= 5; read++) {
            String value = cache.fetch(key, () -> {
                bench.node().update(List.of(key), () -> null);
                return "version " + loads.incrementAndGet();
            });
            assertThat(value).isEqualTo("version " + 2 * read);
        }
    }

    @Test
    void givesAWeakReaderWhatWasReadInsideTheWindowBeforeItCame() throws Exception {
        CacheKey<String> key = Workbench.ap().key(1);
        GatedLoader<String> slow = new GatedLoader<>(database::get);
        Caller<String> early = Workbench.call(() -> cache.fetch(key, slow));
        slow.awaitEntered();
        database.set("Bob");
        bench.clock.advance(key.spec().options().staleWindow().minusMillis(1));
        Caller<String> late =
                Workbench.call(() -> cache.fetch(key, database::get)).awaitWaiting();
        bench.store.fail(Operation.STORE, Fault.LOST_REQUEST);
        slow.letGo();
        assertThat(early.result()).isEqualTo("Ada");
        assertThat(late.result()).isEqualTo("Ada");
    }

    @Test
    void givesAWeakReaderNothingThatWasReadBeforeThat() throws Exception {
        CacheKey<String> key = Workbench.ap().key(1);
        GatedLoader<String> slow = new GatedLoader<>(database::get);
        Caller<String> early = Workbench.call(() -> cache.fetch(key, slow));
        slow.awaitEntered();
        database.set("Bob");
        bench.clock.advance(key.spec().options().staleWindow());
        Caller<String> late =
                Workbench.call(() -> cache.fetch(key, database::get)).awaitWaiting();
        bench.store.fail(Operation.STORE, Fault.LOST_REQUEST);
        slow.letGo();
        assertThat(early.result()).isEqualTo("Ada");
        assertThat(late.result()).isEqualTo("Bob");
    }

    @Test
    void givesEveryReaderThatWaitedTheVeryExceptionOfTheLoad() throws Exception {
        CacheKey<String> key = Workbench.ap().key(1);
        RuntimeException failure = new IllegalStateException("no database");
        GatedLoader<String> failing = new GatedLoader<>(() -> "never");
        List<Caller<String>> readers = Workbench.call(
                20,
                () -> cache.fetch(key, () -> {
                    failing.load();
                    throw failure;
                }));
        failing.awaitEntered();
        readers.forEach(Caller::awaitWaiting);
        failing.letGo();
        for (Caller<String> reader : readers) {
            assertThat(reader.failure()).isSameAs(failure);
        }
        assertThat(failing.loads()).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void freesTheKeyAtOnceWhenALoadFails(Consistency consistency) throws Exception {
        CacheKey<String> key = Workbench.spec(consistency).key(1);
        IllegalStateException failure = new IllegalStateException("no database");
        Caller<String> failed = Workbench.call(() -> cache.fetch(key, () -> {
            throw failure;
        }));
        assertThat(failed.failure()).isSameAs(failure);
        assertThat(cache.fetch(key, () -> "again")).isEqualTo("again");
        assertThat(bench.node().fetch(key, () -> "never")).isEqualTo("again");
        assertThat(bench.clock.nanoTime()).isEqualTo(new ManualClock().nanoTime());
    }

    @Test
    void givesStrongReadersThatCameDuringAFailingLoadOneMoreLoadForAll() throws Exception {
        CacheKey<String> key = Workbench.cp().key(1);
        IllegalStateException failure = new IllegalStateException("no database");
        GatedLoader<String> first = new GatedLoader<>(database::get);
        Caller<String> early = Workbench.call(() -> cache.fetch(key, () -> {
            first.load();
            throw failure;
        }));
        first.awaitEntered();
        bench.clock.advance(Duration.ofMillis(1));
        GatedLoader<String> second = new GatedLoader<>(database::get);
        List<Caller<String>> late = Workbench.call(20, () -> cache.fetch(key, second));
        late.forEach(Caller::awaitWaiting);
        first.letGo();
        assertThat(early.failure()).isSameAs(failure);
        await().until(() -> bench.store.count(Operation.READ) == 1 + 20 + 20);
        late.forEach(Caller::awaitWaiting);
        second.letGo();
        for (Caller<String> reader : late) {
            assertThat(reader.result()).isEqualTo("Ada");
        }
        assertThat(second.loads()).isEqualTo(1);
    }

    @Test
    void countsEachCallAsOneHitOrOneMiss() {
        CacheKey<String> key = Workbench.ap().key(1);
        cache.fetch(key, database::get);
        assertThat(bench.events.next()).containsExactly("miss", "load STORED");
        cache.fetch(key, database::get);
        assertThat(bench.events.next()).containsExactly("hit FRESH");
        bench.node().invalidate(key);
        assertThat(bench.events.next()).containsExactly("invalidated");
        cache.fetch(key, database::get);
        assertThat(bench.events.next()).containsExactly("hit STALE");
        bench.background.runAll();
        assertThat(bench.events.next()).containsExactly("load STORED");
    }
}
