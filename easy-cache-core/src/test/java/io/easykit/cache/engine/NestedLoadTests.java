package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheKey;
import io.easykit.cache.Consistency;
import io.easykit.cache.Loader;
import io.easykit.cache.caffeine.CaffeineLocalLevel;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.engine.Workbench.GatedLoader;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.FaultyCacheStore;
import io.easykit.cache.memory.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A view whose loader reads a cached user: it must never be stored with a user from before the view's last update. */
class NestedLoadTests {

    private static final String OTHER = "other";

    private final Workbench bench = new Workbench();
    private final FaultyCacheStore otherStore = new FaultyCacheStore(bench.clock::millis);
    private final EasyCacheEngine cache = node();
    private final EasyCacheEngine elsewhere = node();
    private final AtomicReference<String> database = new AtomicReference<>("old");
    private final CacheKey<String> user = Workbench.ap().key("user");

    private EasyCacheEngine node() {
        return bench.builder(new JacksonValueCodec())
                .store(OTHER, otherStore)
                .localLevels(() -> new CaffeineLocalLevel(100))
                .buildStopped();
    }

    private static CacheKey<String> view(Consistency consistency) {
        return Workbench.spec(consistency).key("view");
    }

    private String loadUser() {
        return cache.fetch(user, database::get);
    }

    private String loadView() {
        return "view of " + loadUser();
    }

    /** By a third node: the one that updates serves nothing stale of it. */
    private void update(CacheKey<?>... keys) {
        node().update(List.of(keys), () -> {
            database.set("new");
            return null;
        });
    }

    /** What another node finds of a view, which it must not load itself. */
    private void assertStored(CacheKey<String> view, String value) {
        assertThat(elsewhere.fetch(view, () -> "nothing is stored")).isEqualTo(value);
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void isNotBuiltOnAStaleValue(Consistency consistency) {
        loadUser();
        update(user, view(consistency));
        assertThat(elsewhere.fetch(user, () -> "never")).isEqualTo("old");

        assertThat(cache.fetch(view(consistency), this::loadView)).isEqualTo("view of new");
        assertStored(view(consistency), "view of new");
        assertThat(cache.fetch(user, () -> "never")).isEqualTo("new");
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void isNotBuiltOnAStaleValueHoweverDeepItLies(Consistency consistency) {
        CacheKey<String> page = Workbench.spec(consistency).key("page");
        CacheKey<String> view = view(Consistency.AP);
        Loader<String, RuntimeException> loadPage = () -> "page of " + cache.fetch(view, this::loadView);
        cache.fetch(page, loadPage);
        update(user, view, page);
        bench.clock.advance(page.spec().options().effectiveStaleWindow());

        assertThat(cache.fetch(page, loadPage)).isEqualTo("page of view of new");
        assertStored(page, "page of view of new");
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void isNotBuiltOnAStaleValueWhenItIsRefreshedInTheBackground(Consistency consistency) {
        CacheKey<String> view = view(consistency);
        cache.fetch(view, this::loadView);
        bench.clock.advance(view.spec().options().ttl().minusSeconds(1));
        loadUserAgain();
        update(user);
        assertThat(cache.fetch(view, this::loadView)).isEqualTo("view of old");
        bench.background.runAll();
        bench.clock.advance(Duration.ofSeconds(1));
        assertStored(view, "view of new");
    }

    private void loadUserAgain() {
        bench.store.invalidate(List.of(user), "");
        bench.store.invalidateNow(List.of(user), "");
        database.set("old");
        loadUser();
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void isNotBuiltOnALoadThatBeganBeforeItsOwn(Consistency consistency) throws Exception {
        GatedLoader<String> slow = new GatedLoader<>(database::get);
        Caller<String> early = Workbench.call(() -> cache.fetch(user, slow));
        slow.awaitEntered();
        bench.clock.advance(Duration.ofMillis(1));
        update(user, view(consistency));
        bench.clock.advance(Duration.ofMillis(1));
        Caller<String> reader = Workbench.call(() -> cache.fetch(view(consistency), this::loadView));
        reader.awaitWaiting();
        slow.letGo();
        assertThat(early.result()).isEqualTo("old");
        assertThat(reader.result()).isEqualTo("view of new");
        assertStored(view(consistency), "view of new");
    }

    @Test
    void sharesALoadThatBeganAfterItsOwn() throws Exception {
        CacheKey<String> view = view(Consistency.AP);
        GatedLoader<String> first = new GatedLoader<>(() -> "before");
        GatedLoader<String> slow = new GatedLoader<>(database::get);
        Caller<String> reader = Workbench.call(() -> cache.fetch(view, () -> {
            first.load();
            return loadView();
        }));
        first.awaitEntered();
        Caller<String> late = Workbench.call(() -> cache.fetch(user, slow));
        slow.awaitEntered();
        bench.clock.advance(Duration.ofMillis(1));
        first.letGo();
        reader.awaitWaiting();
        bench.store.onNext(Operation.STORE, () -> bench.store.invalidateNow(List.of(user), ""));
        slow.letGo();
        assertThat(late.result()).isEqualTo("old");
        assertThat(reader.result()).isEqualTo("view of old");
        assertThat(slow.loads()).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void isNotBuiltOnTheLocalLevel(Consistency consistency) {
        CacheKey<String> other = Workbench.ap().withClusterId(OTHER).key("user");
        otherStore.away();
        Objects.requireNonNull(cache.availability(OTHER)).force(State.UNAVAILABLE);
        cache.fetch(other, database::get);
        update(view(consistency));
        assertThat(cache.fetch(other, () -> "never")).isEqualTo("old");

        Loader<String, RuntimeException> load = () -> "view of " + cache.fetch(other, database::get);
        assertThat(cache.fetch(view(consistency), load)).isEqualTo("view of new");
        assertStored(view(consistency), "view of new");
    }

    @Test
    void isNotBuiltOnTheLocalLevelWhereItIsKeptThereItself() {
        bench.cutOff(cache);
        cache.fetch(user, database::get);
        database.set("new");
        CacheKey<String> view = view(Consistency.AP);
        assertThat(cache.fetch(view, this::loadView)).isEqualTo("view of new");
        assertThat(cache.fetch(view, () -> "never")).isEqualTo("view of new");
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void isNotBuiltOnAStaleValueReadOnAThreadOfItsOwn(Consistency consistency) throws Exception {
        loadUser();
        update(user, view(consistency));
        cache.fetch(
                view(consistency),
                () -> "view of " + Workbench.call(this::loadUser).result());
        assertStored(view(consistency), "view of new");
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void isNotBuiltOnAStaleValueReadInAForkJoinPool(Consistency consistency) {
        loadUser();
        update(user, view(consistency));
        cache.fetch(
                view(consistency),
                () -> "view of "
                        + CompletableFuture.supplyAsync(() -> Stream.of(1, 2, 3)
                                        .parallel()
                                        .map(i -> loadUser())
                                        .toList())
                                .join());
        assertStored(view(consistency), "view of [new, new, new]");
    }

    @Test
    void leavesTheStaleWindowToReadersOutside() throws Exception {
        loadUser();
        update(user);
        GatedLoader<String> running = new GatedLoader<>(() -> "unrelated");
        Caller<String> unrelated = Workbench.call(() -> cache.fetch(view(Consistency.CP), running));
        running.awaitEntered();
        assertThat(loadUser()).isEqualTo("old");
        running.letGo();
        assertThat(unrelated.result()).isEqualTo("unrelated");
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void endsWithItsLoad(Consistency consistency) throws Exception {
        ExecutorService pool = Executors.newSingleThreadExecutor();
        try {
            List<Future<?>> tasks = new ArrayList<>();
            assertThatThrownBy(() -> cache.fetch(view(consistency), () -> {
                        tasks.add(pool.submit(() -> {}));
                        throw new IllegalStateException("no database");
                    }))
                    .hasMessage("no database");
            tasks.get(0).get();
            loadUser();
            update(user);
            assertThat(loadUser()).isEqualTo("old");
            assertThat(pool.submit(this::loadUser).get()).isEqualTo("old");
        } finally {
            pool.shutdownNow();
        }
    }

    @Test
    void isReturnedButNotStoredWhenItSawUncommittedData() throws Exception {
        CacheKey<String> page = Workbench.cp().key("page");
        CacheKey<String> view = view(Consistency.AP);
        AtomicInteger loads = new AtomicInteger();
        GatedLoader<String> gate = new GatedLoader<>(() -> "seen");
        Loader<String, Exception> loadPage = () -> "page of "
                + cache.fetch(view, () -> {
                    loads.incrementAndGet();
                    bench.transactions.begin();
                    try {
                        cache.update(List.of(user), () -> null);
                        String seen = cache.fetch(user, () -> "uncommitted");
                        gate.load();
                        return seen;
                    } finally {
                        bench.transactions.rollback();
                    }
                });
        Caller<String> first = Workbench.call(() -> cache.fetch(page, loadPage));
        gate.awaitEntered();
        Caller<String> second =
                Workbench.call(() -> cache.fetch(page, () -> "own")).awaitWaiting();
        Caller<String> third =
                Workbench.call(() -> cache.fetch(view, () -> "own")).awaitWaiting();
        gate.letGo();
        assertThat(first.result()).isEqualTo("page of uncommitted");
        assertThat(second.result()).isEqualTo("own");
        assertThat(third.result()).isEqualTo("own");
        assertThat(bench.store.parts(page)).doesNotContain("value");
        assertThat(bench.store.parts(view)).doesNotContain("value");
        assertThat(loads).hasValue(1);
    }

    @Test
    void keepsNothingInTheLocalLevelThatSawUncommittedData() {
        bench.cutOff(cache);
        CacheKey<String> view = view(Consistency.AP);
        cache.fetch(view, () -> {
            bench.transactions.begin();
            try {
                cache.update(List.of(user), () -> null);
                return cache.fetch(user, () -> "uncommitted");
            } finally {
                bench.transactions.rollback();
            }
        });
        assertThat(cache.fetch(view, () -> "committed")).isEqualTo("committed");
    }

    @Test
    void sharesNoFailureThatCameOfUncommittedData() throws Exception {
        CacheKey<String> view = view(Consistency.CP);
        GatedLoader<String> gate = new GatedLoader<>(() -> "seen");
        Caller<String> first = Workbench.call(() -> cache.fetch(view, () -> {
            bench.transactions.begin();
            try {
                cache.update(List.of(user), () -> null);
                String seen = cache.fetch(user, () -> "uncommitted");
                gate.load();
                throw new IllegalStateException(seen);
            } finally {
                bench.transactions.rollback();
            }
        }));
        gate.awaitEntered();
        Caller<String> second =
                Workbench.call(() -> cache.fetch(view, () -> "own")).awaitWaiting();
        gate.letGo();
        assertThat(first.failure()).hasMessage("uncommitted");
        assertThat(second.result()).isEqualTo("own");
    }
}
