package io.easykit.cache.engine;

import static io.easykit.cache.engine.BatchSource.all;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.entry;

import io.easykit.cache.BatchLoader;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.InvalidCacheKeyException;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Operation;
import io.easykit.cache.store.EntryStore;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.core.ResolvableType;

@Timeout(60)
class BatchReadTests {

    private static final List<Integer> TEN =
            IntStream.rangeClosed(1, 10).boxed().toList();

    private final Workbench bench = new Workbench();
    private final EasyCacheEngine cache = bench.node();
    private final BatchSource source = new BatchSource();

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void loadsExactlyTheMissingElementsByOneCall(Consistency consistency) {
        CacheSpec<String> spec = Workbench.spec(consistency);
        cache.fetchAll(spec, List.of(2, 4, 6, 8, 10), source);
        source.calls.clear();
        bench.events.next();

        Map<Integer, String> found = cache.fetchAll(spec, TEN, source);

        assertThat(found).containsExactlyEntriesOf(all(TEN, ""));
        assertThat(source.calls).containsExactly(List.of(1, 3, 5, 7, 9));
        assertThat(bench.events.next())
                .filteredOn(event -> event.startsWith("hit") || event.equals("miss"))
                .hasSize(10)
                .containsOnly("hit FRESH", "miss")
                .filteredOn("miss"::equals)
                .hasSize(5);
        assertThat(cache.fetchAll(spec, TEN, source)).isEqualTo(found);
        assertThat(source.calls).hasSize(1);
    }

    @Test
    void keepsTheCallersOrderAndChargesADuplicateOnce() {
        assertThat(cache.fetchAll(Workbench.ap(), List.of(3, 1, 3, 2, 1), source))
                .containsExactlyEntriesOf(all(List.of(3, 1, 2), ""));
        assertThat(source.calls).containsExactly(List.of(3, 1, 2));
        assertThat(bench.store.count(Operation.FETCH)).isEqualTo(3);
    }

    /** Each of which waits once for Redis. */
    @Test
    void callsTheStoreOnceForEachStep() {
        List<String> calls = new ArrayList<>();
        EntryStore recording = (EntryStore) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {EntryStore.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("callAll")) {
                        calls.add(((List<?>) arguments[0])
                                .stream()
                                        .map(call -> call.getClass().getSimpleName())
                                        .distinct()
                                        .toList()
                                        .toString());
                    } else if (!method.getName().equals("epochHashOf")) {
                        calls.add(method.getName());
                    }
                    return method.invoke(bench.store, arguments);
                });
        EasyCacheEngine node = bench.builder(new JacksonValueCodec())
                .store(CacheSpec.DEFAULT_CLUSTER, recording)
                .buildStopped();
        node.fetchAll(Workbench.ap(), List.of(0), source);
        calls.clear();

        node.fetchAll(Workbench.ap(), TEN, source);
        assertThat(calls).containsExactly("[Read]", "[Fetch]", "[Store]");
        calls.clear();

        node.fetchAll(Workbench.ap(), TEN, source);
        assertThat(calls).containsExactly("[Read]");
    }

    @Test
    void cachesThatAnElementHasNoValue() {
        BatchLoader<Integer, String, RuntimeException> some = missing -> {
            source.load(missing);
            Map<Integer, String> found = new HashMap<>();
            found.put(1, "one");
            found.put(2, null);
            return found;
        };
        for (int i = 0; i < 2; i++) {
            assertThat(cache.fetchAll(Workbench.ap(), List.of(1, 2, 3), some)).containsExactly(entry(1, "one"));
        }
        assertThat(source.calls).hasSize(1);
        assertThat(cache.fetch(Workbench.ap().key(3), () -> "not called")).isNull();
        bench.clock.advance(Workbench.ap().options().nullTtl().plusSeconds(1));
        cache.fetchAll(Workbench.ap(), List.of(1, 2, 3), source);
        assertThat(source.calls).hasSize(2).last().isEqualTo(List.of(2, 3));
    }

    @Test
    void anOptionalElementThatIsLeftOutIsEmptyAsForASingleRead() {
        CacheSpec<Optional<String>> spec = CacheSpec.of(
                "optional",
                ResolvableType.forClassWithGenerics(Optional.class, String.class)
                        .getType());
        BatchLoader<Integer, Optional<String>, RuntimeException> some = missing -> Map.of(1, Optional.of("one"));
        for (int i = 0; i < 2; i++) {
            assertThat(cache.fetchAll(spec, List.of(1, 2), some))
                    .containsExactly(entry(1, Optional.of("one")), entry(2, Optional.empty()));
        }
        assertThat(cache.fetch(spec.key(2), () -> Optional.of("not called"))).isEmpty();
    }

    @Test
    void namesThePositionOfANullElement() {
        assertThatExceptionOfType(InvalidCacheKeyException.class)
                .isThrownBy(() -> cache.fetchAll(Workbench.ap(), Arrays.asList(1, null, 3), source))
                .withMessage("Element 1 of the 3 elements of 'name' (counted from 0) is null. Leave it out.");
        assertThat(source.calls).isEmpty();
    }

    @Test
    void refusesAnElementThatWasNotAskedForAndStoresNothing() {
        CacheSpec<String> spec = Workbench.ap();
        assertThatExceptionOfType(InvalidCacheKeyException.class)
                .isThrownBy(() -> cache.<Object, String, RuntimeException>fetchAll(
                        spec, List.of(1, 2), missing -> Map.of(1, "one", 2L, "two")))
                .withMessageContaining("returned a value for 2 (java.lang.Long), which it was not asked for")
                .withMessageContaining("1 (java.lang.Integer) and 1 more");
        assertThat(bench.store.count(Operation.STORE)).isZero();
        assertThat(cache.fetchAll(spec, List.of(1, 2), source)).hasSize(2);
    }

    @Test
    void passesTheLoadersExceptionOnAndReleasesTheLeases() {
        IllegalStateException down = new IllegalStateException("The database is down");
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> cache.fetchAll(Workbench.ap(), TEN, missing -> {
                    throw down;
                }))
                .isSameAs(down);
        assertThat(bench.store.count(Operation.STORE)).isZero();
        assertThat(bench.store.count(Operation.RELEASE_LOAD)).isEqualTo(10);
        assertThat(bench.node().fetchAll(Workbench.ap(), TEN, source)).hasSize(10);
        assertThat(bench.events.next()).doesNotContain("hit FRESH").contains("load FAILED");
    }

    @Test
    void anUndecodableElementIsLoadedWithTheOtherMissingOnes() {
        CacheSpec<String> spec = Workbench.ap();
        cache.fetchAll(spec, TEN.subList(0, 9), source);
        source.calls.clear();
        bench.store.spoil(spec.key(4), "garbage".getBytes(StandardCharsets.UTF_8));
        assertThat(cache.fetchAll(spec, TEN, source)).containsExactlyEntriesOf(all(TEN, ""));
        assertThat(source.calls).containsExactly(List.of(4, 10));
        assertThat(cache.fetchAll(spec, TEN, source)).hasSize(10);
        assertThat(source.calls).hasSize(1);
    }

    @Test
    void loadsTenThousandElementsWithoutAQuadraticStep() {
        List<Integer> ids = IntStream.range(0, 10_000).boxed().toList();
        assertThat(cache.fetchAll(Workbench.ap(), ids, source)).containsExactlyEntriesOf(all(ids, ""));
        assertThat(cache.fetchAll(Workbench.ap(), ids, source)).hasSize(10_000);
        assertThat(source.calls).hasSize(1);
        assertThat(bench.store.count(Operation.STORE)).isEqualTo(10_000);
    }

    @Test
    void readsItsOwnKeysInsideItsLoader() {
        CacheSpec<String> spec = Workbench.ap();
        Map<Integer, String> found = cache.fetchAll(
                spec,
                List.of(1, 2),
                missing -> Map.of(1, "outer", 2, String.valueOf(cache.fetchAll(spec, missing, source))));
        assertThat(found).containsExactly(entry(1, "outer"), entry(2, "{1=1, 2=2}"));
        assertThat(source.calls).containsExactly(List.of(1, 2));
    }

    @Test
    void aSwitchedOffCacheLoadsEveryElement() {
        EasyCacheEngine off = bench.builder(new JacksonValueCodec()).disabled().buildStopped();
        assertThat(off.fetchAll(Workbench.ap(), List.of(2, 1, 2), source))
                .containsExactlyEntriesOf(all(List.of(2, 1), ""));
        assertThat(off.fetchAll(Workbench.ap(), List.<Integer>of(), source)).isEmpty();
        assertThat(source.calls).containsExactly(List.of(2, 1));
    }

    @Test
    void noElementsCostNothing() {
        assertThat(cache.fetchAll(Workbench.ap(), List.<Integer>of(), source)).isEmpty();
        assertThat(source.calls).isEmpty();
        assertThat(bench.store.count()).isZero();
    }

    @Test
    void aVetoedValueIsReturnedAndNotStored() {
        CacheSpec<String> spec = Workbench.ap();
        assertThat(cache.fetchAll(spec, List.of(1, 2), source, value -> !"2".equals(value)))
                .hasSize(2);
        assertThat(bench.store.parts(spec.key(1))).contains("value");
        assertThat(bench.store.parts(spec.key(2))).doesNotContain("value");
    }
}
