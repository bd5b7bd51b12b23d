package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.RunningLoad;
import io.micrometer.context.ContextSnapshotFactory;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How the scope of a load reaches the threads of a pool. */
class RunningLoadTests {

    private final Workbench bench = new Workbench();
    private final EasyCacheEngine cache = bench.node();
    private final EasyCacheEngine elsewhere = bench.node();
    private final AtomicReference<String> database = new AtomicReference<>("old");
    private final CacheKey<String> user = Workbench.ap().key("user");
    private final CacheKey<String> view = Workbench.cp().key("view");
    private final ExecutorService pool = Executors.newSingleThreadExecutor();

    @BeforeEach
    void warmUp() throws Exception {
        pool.submit(this::loadUser).get();
    }

    @AfterEach
    void stop() {
        pool.shutdownNow();
    }

    private String loadUser() {
        return cache.fetch(user, database::get);
    }

    private void viewIsBuiltOn(Callable<String> userFromThePool) throws Exception {
        elsewhere.update(List.of(user, view), () -> {
            database.set("new");
            return null;
        });
        assertThat(cache.fetch(view, userFromThePool::call)).isEqualTo("new");
        assertThat(RunningLoad.current()).isNull();
        assertThat(pool.submit(RunningLoad::current).get()).isNull();
        elsewhere.update(List.of(user), () -> null);
        bench.store.invalidateNow(List.of(view), "");
        assertThat(pool.submit(this::loadUser).get()).isEqualTo("new");
    }

    @Test
    void isCarriedByAWrappedTask() throws Exception {
        viewIsBuiltOn(() -> pool.submit(RunningLoad.carry(this::loadUser)).get());
    }

    @Test
    void isCarriedByAWrappedExecutor() throws Exception {
        viewIsBuiltOn(() -> {
            AtomicReference<String> result = new AtomicReference<>();
            RunningLoad.carrying(pool).execute(() -> result.set(loadUser()));
            pool.submit(() -> {}).get();
            return result.get();
        });
    }

    @Test
    void isCarriedByMicrometersContextPropagation() throws Exception {
        viewIsBuiltOn(() -> pool.submit(
                        ContextSnapshotFactory.builder().build().captureAll().wrap((Callable<String>) this::loadUser))
                .get());
    }

    @Test
    void leavesATaskAloneOutsideOfLoads() {
        Runnable task = () -> {};
        assertThat(RunningLoad.carry(task)).isSameAs(task);
    }
}
