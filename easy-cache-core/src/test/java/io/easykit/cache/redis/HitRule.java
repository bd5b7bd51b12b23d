package io.easykit.cache.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import java.time.Duration;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Which entries a plain read takes for a hit, without a script. */
@FunctionalInterface
interface HitRule {

    CacheKey<?> KEY = CacheSpec.of("model", String.class).key(1);

    /** The version that it would return; null if this is no hit. */
    @Nullable Integer accepts(Entry entry);

    /** The rule of {@link RedisEntryStore} itself. */
    static HitRule shipped() {
        Map<Entry, Boolean> known = new HashMap<>();
        return entry -> known.computeIfAbsent(entry, HitRule::isFresh) ? entry.version() : null;
    }

    private static boolean isFresh(Entry entry) {
        return new RedisEntryStore(new Fields(entry), Duration.ofSeconds(1))
                .read(KEY, 0)
                .fresh();
    }

    /** Answers with the fields of one entry. */
    record Fields(Entry entry) implements RedisCommands {

        @Override
        public CompletionStage<Map<byte[], byte[]>> readAll(byte[] key) {
            IdentityHashMap<byte[], byte[]> fields = new IdentityHashMap<>();
            entry.fields()
                    .forEach((name, value) -> fields.put(
                            (name.equals("v") ? "v" + KEY.spec().fingerprint() : name).getBytes(ISO_8859_1),
                            value.getBytes(ISO_8859_1)));
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
