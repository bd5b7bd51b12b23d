package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.ValueCodec;
import io.easykit.cache.engine.LoadResult.Loaded;
import io.easykit.cache.engine.LoadResult.SharedValue;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.Envelope.Kind;
import io.easykit.cache.type.ImmutableTypes;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Values into envelopes and back. */
final class ValueEnvelopes {

    private static final Logger log = LoggerFactory.getLogger(ValueEnvelopes.class);
    private static final byte[] NO_PAYLOAD = {};

    private final ValueCodec codec;
    private final VerifyingEncoder encoder;
    private final ValueTtls ttls = new ValueTtls();

    ValueEnvelopes(ValueCodec codec, Ticker ticker) {
        this.codec = codec;
        this.encoder = new VerifyingEncoder(codec, ticker);
    }

    /** Null if it is unreadable: garbage, another format, another type's bytes. */
    @SuppressWarnings("unchecked") // the spec's type is the caller's word for V
    <V> @Nullable Decoded<V> decode(Envelope envelope, CacheKey<V> key) {
        Kind kind = envelope.kind();
        if (kind == null) {
            return null;
        }
        try {
            return switch (kind) {
                case NULL -> new Decoded<>(null);
                case EMPTY_OPTIONAL -> new Decoded<>((V) Optional.empty());
                case VALUE ->
                    new Decoded<>(
                            (V) codec.decode(envelope.payload(), key.spec().type()));
            };
        } catch (Exception | LinkageError | StackOverflowError unreadable) {
            log.debug("Cannot read the value of {}: {}", key, ErrorText.by(codec, unreadable));
            return null;
        }
    }

    /** Null if it would not come back as it is. */
    <V> @Nullable Envelope encode(@Nullable V value, CacheKey<V> key) {
        if (value == null) {
            return Envelope.of(Kind.NULL, NO_PAYLOAD);
        }
        if (value instanceof Optional<?> optional && optional.isEmpty()) {
            return Envelope.of(Kind.EMPTY_OPTIONAL, NO_PAYLOAD);
        }
        byte[] payload = encoder.encode(value, key.spec());
        return payload == null ? null : Envelope.of(Kind.VALUE, payload);
    }

    /** See {@link ValueTtls#ownOf}. */
    <V> @Nullable Duration ownTtl(@Nullable V value, CacheKey<V> key) {
        return ttls.ownOf(value, key);
    }

    /** See {@link ValueTtls#of}. */
    <V> Duration ttl(@Nullable V value, CacheKey<V> key) {
        return ttls.of(value, key);
    }

    @Nullable String problemWith(Type type) {
        return codec.problemWith(type);
    }

    /** The result for several readers: a value that one of them could change is encoded before the owner has it. */
    <V> LoadResult<V> snapshot(LoadResult<V> result, CacheKey<V> key) {
        if (!(result instanceof SharedValue<V> shared)
                || shared.value() == null
                || shared.snapshot() != null
                || areImmutable(key)) {
            return result;
        }
        Envelope snapshot = encode(shared.value(), key);
        return snapshot == null ? new LoadResult.UnsharableValue<>(shared.value()) : shared.with(snapshot);
    }

    /** The result with a value that has no bytes: several readers can share it only if none of them could change it. */
    <V> LoadResult<V> refused(Loaded<V> loaded, CacheKey<V> key) {
        return areImmutable(key) ? loaded : new LoadResult.UnsharableValue<>(loaded.value());
    }

    /** The result for one more reader, with an object of its own. */
    <V> LoadResult<V> copyFor(LoadResult<V> result, CacheKey<V> key) {
        if (!(result instanceof SharedValue<V> shared) || shared.snapshot() == null || areImmutable(key)) {
            return result;
        }
        Decoded<V> own = decode(shared.snapshot(), key);
        return own == null ? result : new Loaded<>(own.value(), shared.asOf());
    }

    private static boolean areImmutable(CacheKey<?> key) {
        return ImmutableTypes.contain(key.spec().type());
    }

    /** A value that could be read, "nothing" included. */
    record Decoded<V>(@Nullable V value) implements FirstRead<V> {}
}
