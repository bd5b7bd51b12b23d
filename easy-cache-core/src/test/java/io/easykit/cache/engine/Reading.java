package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** The ways to read one entry. They need a store that answers later, and threads for asynchronous calls. */
enum Reading {
    ONE {
        @Override
        String read(EasyCacheEngine cache, CacheSpec<String> spec, int id, Supplier<String> source) {
            return cache.fetch(spec.key(id), source::get);
        }
    },
    BATCH {
        @Override
        String read(EasyCacheEngine cache, CacheSpec<String> spec, int id, Supplier<String> source) {
            return cache.<Integer, String, RuntimeException>fetchAll(
                            spec, List.of(id), missing -> Map.of(id, source.get()))
                    .get(id);
        }
    },
    LATER {
        @Override
        String read(EasyCacheEngine cache, CacheSpec<String> spec, int id, Supplier<String> source) throws Exception {
            CacheKey<String> key = spec.key(id);
            return cache.async()
                    .fetch(key, () -> CompletableFuture.completedFuture(source.get()))
                    .get(30, TimeUnit.SECONDS);
        }
    };

    abstract String read(EasyCacheEngine cache, CacheSpec<String> spec, int id, Supplier<String> source)
            throws Exception;
}
