package io.easykit.cache.test;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.ValueCodec;
import io.easykit.cache.memory.InMemoryCacheStore;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.StoredEntry;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** An entry at the time of an assertion: the values that readers may get, and the prepared updates. */
record FoundEntry(CacheKey<?> key, List<FoundValue> values, List<StoredEntry.Update> updates, Instant now) {

    private static final int MOST_SHOWN = 200;

    /** What a reader may get. */
    enum State {
        FRESH,
        STALE,
        EXPIRED
    }

    /**
     * A value that a reader may get.
     *
     * @param left how long
     */
    record FoundValue(Envelope envelope, State state, Duration left, ValueCodec codec) {

        /**
         * Whether the value, read as the class of the expected one, equals it, or is written the same. The class of a
         * collection is not enough to read its elements.
         */
        boolean is(@Nullable Object expected) {
            Envelope.Kind kind = envelope.kind();
            if (expected == null) {
                return kind == Envelope.Kind.NULL;
            }
            if (expected instanceof Optional<?> optional) {
                return optional.isEmpty() ? kind == Envelope.Kind.EMPTY_OPTIONAL : isWrittenTheSame(expected);
            }
            return kind == Envelope.Kind.VALUE
                    && (expected.equals(decoded(envelope.payload(), expected.getClass()))
                            || isWrittenTheSame(expected));
        }

        private boolean isWrittenTheSame(Object expected) {
            byte[] written;
            try {
                written = codec.encode(expected, Object.class);
            } catch (RuntimeException e) {
                return false;
            }
            // As maps and lists, in which the order of properties does not count.
            Object tree = decoded(written, Object.class);
            return tree != null && tree.equals(decoded(envelope.payload(), Object.class));
        }

        /** Null if the value is of another type. */
        private @Nullable Object decoded(byte[] bytes, Class<?> type) {
            try {
                return codec.decode(bytes, type);
            } catch (RuntimeException e) {
                return null;
            }
        }

        @Override
        public String toString() {
            Envelope.Kind kind = envelope.kind();
            String text = kind == Envelope.Kind.VALUE
                    ? cut(new String(envelope.payload(), UTF_8))
                    : String.valueOf(kind).toLowerCase(Locale.ROOT).replace('_', ' ');
            return state.name().toLowerCase(Locale.ROOT) + " for " + CacheOptions.text(left) + ", value " + text;
        }
    }

    static FoundEntry of(CacheKey<?> key, InMemoryCacheStore store, ValueCodec codec) {
        StoredEntry stored = store.inspect(key);
        Map<String, Envelope> envelopes = store.values(key);
        long epoch = store.epochs(0).raised().getOrDefault(key.spec().prefix(), 0L);
        List<FoundValue> values = new ArrayList<>();
        for (StoredEntry.Value value : stored.values()) {
            Envelope envelope = envelopes.get(value.fingerprint());
            Instant expires = value.expires();
            FoundValue found = envelope == null || expires == null || value.epoch() < epoch
                    ? null
                    : value(envelope, expires, stored, codec);
            if (found != null) {
                values.add(found);
            }
        }
        return new FoundEntry(key, values, stored.updates(), stored.now());
    }

    private static @Nullable FoundValue value(
            Envelope envelope, Instant expires, StoredEntry stored, ValueCodec codec) {
        State state = State.FRESH;
        Instant ends = expires;
        Instant stale = stored.staleUntil();
        Instant kept = stored.keptUntil();
        if (stale != null) {
            state = State.STALE;
            ends = stale.isBefore(expires) ? stale : expires;
        } else if (!stored.now().isBefore(expires) && kept != null && stored.updatesUntil() == null) {
            state = State.EXPIRED;
            ends = kept;
        }
        Duration left = Duration.between(stored.now(), ends);
        return left.isNegative() || left.isZero() ? null : new FoundValue(envelope, state, left, codec);
    }

    /** Whether an update is prepared, and its lease has not ended. */
    boolean isBeingUpdated() {
        return updates.stream().anyMatch(update -> update.leaseEnds().isAfter(now));
    }

    static String cut(String text) {
        return text.length() <= MOST_SHOWN ? text : text.substring(0, MOST_SHOWN) + "…";
    }

    @Override
    public String toString() {
        List<String> lines = values.stream().map(FoundValue::toString).collect(Collectors.toList());
        updates.stream()
                .filter(update -> update.leaseEnds().isAfter(now))
                .forEach(update -> lines.add("a prepared update, whose lease ends in "
                        + CacheOptions.text(Duration.between(now, update.leaseEnds()))
                        + " (it runs, its node has crashed, or it has returned and also clears a cache, which is not"
                        + " confirmed yet: advance the time)"));
        return lines.isEmpty()
                ? "there is none"
                : lines.stream().collect(Collectors.joining("\n  ", "there is:\n  ", ""));
    }
}
