package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.engine.Workbench.GatedLoader;
import io.easykit.cache.jackson.JacksonValueCodec;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** Which readers report that they have waited, and for how long. */
class WaitEventsTests {

    private final Workbench bench = new Workbench();
    private final List<Duration> waits = new CopyOnWriteArrayList<>();
    private final EasyCacheEngine cache = bench.builder(new JacksonValueCodec())
            .listener(new CacheListener() {
                @Override
                public void onWait(CacheKey<?> key, Duration waited) {
                    assertThat(key.name()).isEqualTo("name::1");
                    waits.add(waited);
                }
            })
            .buildStopped();
    private final CacheKey<String> key = Workbench.cp().key(1);

    @Test
    void comeFromNoLoadAndNoHit() {
        cache.fetch(key, () -> "value");
        cache.fetch(key, () -> "never");
        assertThat(waits).isEmpty();
    }

    @Test
    void comeFromEachReaderOfALoadInThisJvm() throws Exception {
        GatedLoader<String> slow = new GatedLoader<>(() -> "value");
        Caller<String> owner = Workbench.call(() -> cache.fetch(key, slow));
        slow.awaitEntered();
        List<Caller<String>> readers = Workbench.call(2, () -> cache.fetch(key, () -> "never"));
        readers.forEach(Caller::awaitWaiting);
        bench.clock.advance(Duration.ofMillis(700));
        slow.letGo();
        owner.result();
        for (Caller<String> reader : readers) {
            assertThat(reader.result()).isEqualTo("value");
        }
        assertThat(waits).containsExactly(Duration.ofMillis(700), Duration.ofMillis(700));
    }

    @Test
    void comeFromAReaderOfALoadOnAnotherNode() throws Exception {
        GatedLoader<String> slow = new GatedLoader<>(() -> "value");
        Caller<String> there = Workbench.call(() -> bench.node().fetch(key, slow));
        slow.awaitEntered();
        bench.clock.onPause(() -> {
            slow.letGo();
            await().until(there::isDone);
        });
        long from = bench.clock.nanoTime();
        assertThat(cache.fetch(key, () -> "never")).isEqualTo("value");
        assertThat(waits).containsExactly(Duration.ofNanos(bench.clock.nanoTime() - from));
    }

    @Test
    void comeFromAReaderDuringAnUpdate() {
        cache.fetch(key, () -> "old");
        bench.store.prepare(List.of(key), "token", Duration.ofSeconds(30));
        assertThat(cache.fetch(key, () -> "new")).isEqualTo("new");
        assertThat(waits).hasSize(1);
        assertThat(waits.get(0)).isBetween(Duration.ofMillis(50), Duration.ofMillis(100));
    }

    @Test
    void comeFromReadersOfALoadWithoutRedis() throws Exception {
        CacheKey<String> weak = Workbench.ap().key(1);
        bench.store.away();
        GatedLoader<String> slow = new GatedLoader<>(() -> "value");
        Caller<String> owner = Workbench.call(() -> cache.fetch(weak, slow));
        slow.awaitEntered();
        Caller<String> reader = Workbench.call(() -> cache.fetch(weak, () -> "never"));
        reader.awaitWaiting();
        slow.letGo();
        assertThat(owner.result()).isEqualTo("value");
        assertThat(reader.result()).isEqualTo("value");
        assertThat(waits).hasSize(1);
    }
}
