package io.easykit.cache.engine;

import io.easykit.cache.store.Envelope;
import org.jspecify.annotations.Nullable;

/** The result of a load: a value or a failure, and who may use it. */
sealed interface LoadResult<V> {

    /** The value, which may be null; null if there is a failure. */
    default @Nullable V value() {
        return null;
    }

    /** Null if there is a value. */
    default @Nullable Throwable failure() {
        return null;
    }

    /** Returns the value, or throws the failure. */
    default @Nullable V get() throws Throwable {
        Throwable failure = failure();
        if (failure != null) {
            throw failure;
        }
        return value();
    }

    /** The same result, which no other reader may have. */
    default LoadResult<V> forCallerAlone() {
        Throwable failure = failure();
        return failure == null ? new UnsharableValue<>(value()) : new UnsharableFailure<>(failure);
    }

    /** For all readers for which it is fresh enough. */
    sealed interface Shared<V> extends LoadResult<V> {

        /**
         * Ticker time at which the result was current, in nanoseconds: start of the load or, if the store was accepted, the
         * time the store command was sent.
         */
        long asOf();
    }

    /** A value that several readers may share. */
    sealed interface SharedValue<V> extends Shared<V> {

        /**
         * The encoded value, from which {@link ValueEnvelopes} decodes an object for each further reader; null if that is
         * unnecessary or impossible.
         */
        @Nullable Envelope snapshot();

        SharedValue<V> with(Envelope bytes);
    }

    /** The current value. */
    record Loaded<V>(@Nullable V value, long asOf, @Nullable Envelope snapshot) implements SharedValue<V> {

        Loaded(@Nullable V value, long asOf) {
            this(value, asOf, null);
        }

        @Override
        public Loaded<V> with(Envelope bytes) {
            return new Loaded<>(value, asOf, bytes);
        }
    }

    /** A value that the store rejected: the key was invalidated during the load, or another load was stored. */
    record Superseded<V>(@Nullable V value, long asOf, @Nullable Envelope snapshot) implements SharedValue<V> {

        @Override
        public Superseded<V> with(Envelope bytes) {
            return new Superseded<>(value, asOf, bytes);
        }
    }

    record Failed<V>(Throwable failure, long asOf) implements Shared<V> {}

    /** For the owner of the load alone. The others try again. */
    record Unshared<V>(@Nullable V value) implements LoadResult<V> {}

    /**
     * For the owner of the load alone, which saw data that may neither be stored nor shared. The others load for themselves,
     * since a result that can be shared may never come.
     */
    sealed interface Unsharable<V> extends LoadResult<V> {}

    record UnsharableValue<V>(@Nullable V value) implements Unsharable<V> {}

    record UnsharableFailure<V>(Throwable failure) implements Unsharable<V> {}
}
