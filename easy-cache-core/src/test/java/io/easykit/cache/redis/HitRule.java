package io.easykit.cache.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.EntryStore.Snapshot;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Which entries a plain read takes for a hit, without a script. */
@FunctionalInterface
interface HitRule {

    /** The version that it would return; null if this is no hit. */
    @Nullable Integer accepts(Entry entry);

    /** The rule of {@link RedisEntryStore} itself. */
    static HitRule shipped() {
        Map<Entry, Integer> known = new HashMap<>();
        CacheKey<?> key = CacheSpec.of("model", String.class).key(1);
        return entry -> known.computeIfAbsent(entry, any -> {
                            Snapshot seen = new RedisEntryStore(new Fields(entry), Duration.ofSeconds(1)).read(key, 0);
                            return seen.fresh() ? entry.version() : -1;
                        })
                        < 0
                ? null
                : known.get(entry);
    }

    /** Answers with the fields of one entry. */
    record Fields(Entry entry) implements RedisCommands {

        @Override
        public CompletionStage<Map<byte[], byte[]>> readAll(byte[] key) {
            Map<byte[], byte[]> fields = new HashMap<>();
            entry.fields().forEach((name, value) -> fields.put(name.getBytes(ISO_8859_1), value.getBytes(ISO_8859_1)));
            return CompletableFuture.completedFuture(fields);
        }

        @Override
        public CompletionStage<Object> runBySha(RedisScript script, byte[] key, List<byte[]> arguments) {
            throw new UnsupportedOperationException("A plain read runs no script");
        }

        @Override
        public CompletionStage<Object> runByText(RedisScript script, byte[] key, List<byte[]> arguments) {
            throw new UnsupportedOperationException("A plain read runs no script");
        }

        @Override
        public CompletionStage<?> load(RedisScript script) {
            throw new UnsupportedOperationException("A plain read runs no script");
        }

        @Override
        public CompletionStage<Long> time() {
            return CompletableFuture.completedFuture(0L);
        }
    }
}
