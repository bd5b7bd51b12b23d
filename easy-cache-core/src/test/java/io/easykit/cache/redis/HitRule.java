package io.easykit.cache.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.store.EntryStore.Snapshot;
import io.easykit.redis.ScriptExecutor;
import java.time.Duration;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Which entries a plain read takes for a hit, without a script. */
@FunctionalInterface
interface HitRule {

    /** The field of the values where all nodes run one version of the application. */
    String FIELD = "v";

    /** The field of another version. */
    String OTHER_FIELD = "v2";

    /** The key of the model, as each version declares it. */
    Map<String, CacheKey<?>> KEYS = Map.of(
            FIELD, CacheSpec.of("model", String.class).key(1),
            OTHER_FIELD, CacheSpec.of("model", Integer.class).key(1));

    /**
     * The envelope that a plain read would decode; null if this is no hit.
     *
     * @param field of the values that the reader can read
     * @param clock Redis's clock in ticks, as the node estimates it
     */
    @Nullable String accepts(Entry entry, String field, int clock);

    /** The version that a plain read would return of an entry that does not outlive its values; null if this is no hit. */
    default @Nullable Integer accepts(Entry entry) {
        String envelope = accepts(entry, FIELD, 0);
        return envelope == null ? null : Integer.valueOf(Entry.versionOf(envelope));
    }

    /** The rule of {@link RedisEntryStore} itself. */
    static HitRule shipped() {
        Map<Entry, Map<Asked, Optional<String>>> known = new HashMap<>();
        return (entry, field, clock) -> known.computeIfAbsent(entry, any -> new HashMap<>())
                .computeIfAbsent(
                        new Asked(field, entry.has("x") ? clock : 0), asked -> fresh(entry, field, asked.clock))
                .orElse(null);
    }

    /**
     * A question that was answered before.
     *
     * @param clock 0 where it does not matter
     */
    record Asked(String field, int clock) {}

    private static Optional<String> fresh(Entry entry, String field, int clock) {
        Snapshot seen = new RedisEntryStore(new Fields(entry, clock), Duration.ofSeconds(1)).read(KEYS.get(field), 0);
        return Optional.ofNullable(seen.fresh() ? seen.value() : null)
                .map(envelope -> new String(envelope.toBytes(), ISO_8859_1));
    }

    /** Answers with the fields of one entry. */
    record Fields(Entry entry, int clock) implements RedisCommands {

        @Override
        public CompletionStage<Map<byte[], byte[]>> readAll(byte[] key) {
            IdentityHashMap<byte[], byte[]> fields = new IdentityHashMap<>();
            entry.fields()
                    .forEach((name, value) ->
                            fields.put(nameInRedis(name).getBytes(ISO_8859_1), value.getBytes(ISO_8859_1)));
            return CompletableFuture.completedFuture(fields);
        }

        private static String nameInRedis(String field) {
            CacheKey<?> key = KEYS.get(field);
            return key == null ? field : "v" + key.spec().fingerprint();
        }

        @Override
        public ScriptExecutor scripts() {
            throw new UnsupportedOperationException("A plain read runs no script");
        }

        @Override
        public CompletionStage<Long> time() {
            return CompletableFuture.completedFuture(Laboratory.serverMillis(clock));
        }
    }
}
