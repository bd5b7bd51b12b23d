package io.easykit.cache;

import static io.easykit.cache.InvalidCacheOptionsException.LONGEST_DURATION;
import static io.easykit.cache.InvalidCacheOptionsException.atLeast;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Options of one cache: TTL, consistency, locks. Immutable; {@link #builder()} starts from the defaults. */
public final class CacheOptions {

    private static final Duration SHORTEST_TTL = Duration.ofMillis(10);
    private static final CacheOptions DEFAULTS = new Builder().build();

    private final Consistency consistency;
    private final Duration ttl;
    private final Duration nullTtl;
    private final double ttlJitter;
    private final Duration staleWindow;
    private final Duration refreshAhead;
    private final Duration nearTtl;
    private final Duration loadLease;
    private final Duration loadWaitTimeout;
    private final Duration updateLease;
    private final Reload reload;
    private final @Nullable SerialOptions serial;
    private final @Nullable StaleOnErrorOptions staleOnError;

    private final Duration effectiveStaleWindow;
    private final Duration effectiveRefreshAhead;
    private final Duration effectiveNullRefreshAhead;

    private CacheOptions(Builder builder) {
        this.consistency = builder.consistency;
        this.ttl = atLeast("ttl", builder.ttl, SHORTEST_TTL);
        this.nullTtl = atLeast("null-ttl", builder.nullTtl, SHORTEST_TTL);
        this.staleWindow = atLeast("stale-window", builder.staleWindow, Duration.ZERO);
        this.refreshAhead = atLeast("refresh-ahead", builder.refreshAhead, Duration.ZERO);
        this.nearTtl = atLeast("near-ttl", builder.nearTtl, Duration.ZERO);
        this.loadLease = atLeast("load-lease", builder.loadLease, SHORTEST_TTL);
        this.loadWaitTimeout = atLeast("load-wait-timeout", builder.loadWaitTimeout, Duration.ZERO);
        this.updateLease = atLeast("update-lease", builder.updateLease, SHORTEST_TTL);
        this.ttlJitter = builder.ttlJitter;
        this.reload = builder.reload;
        this.serial = builder.serial;
        this.staleOnError = builder.staleOnError;
        InvalidCacheOptionsException.check(this);
        this.effectiveStaleWindow = consistency == Consistency.CP ? Duration.ZERO : staleWindow;
        this.effectiveRefreshAhead = refreshAheadOf(ttl);
        this.effectiveNullRefreshAhead = refreshAheadOf(nullTtl);
    }

    /** The default of every option. */
    public static CacheOptions defaults() {
        return DEFAULTS;
    }

    /** A builder that starts from the defaults. */
    public static Builder builder() {
        return new Builder();
    }

    /** A builder that starts from these options. */
    public Builder toBuilder() {
        return new Builder()
                .consistency(consistency)
                .ttl(ttl)
                .nullTtl(nullTtl)
                .ttlJitter(ttlJitter)
                .staleWindow(staleWindow)
                .refreshAhead(refreshAhead)
                .nearTtl(nearTtl)
                .loadLease(loadLease)
                .loadWaitTimeout(loadWaitTimeout)
                .updateLease(updateLease)
                .reload(reload)
                .serial(serial)
                .staleOnError(staleOnError);
    }

    public Consistency consistency() {
        return consistency;
    }

    public Duration ttl() {
        return ttl;
    }

    public Duration nullTtl() {
        return nullTtl;
    }

    public double ttlJitter() {
        return ttlJitter;
    }

    /** The stale window as it was set; see {@link #effectiveStaleWindow()}. */
    public Duration staleWindow() {
        return staleWindow;
    }

    /** The refresh-ahead time as it was set; see {@link #effectiveRefreshAhead()}. */
    public Duration refreshAhead() {
        return refreshAhead;
    }

    public Duration nearTtl() {
        return nearTtl;
    }

    public Duration loadLease() {
        return loadLease;
    }

    public Duration loadWaitTimeout() {
        return loadWaitTimeout;
    }

    public Duration updateLease() {
        return updateLease;
    }

    public Reload reload() {
        return reload;
    }

    /** How calls of one key wait for their turn; null if they run in no order. */
    public @Nullable SerialOptions serial() {
        return serial;
    }

    /** How expired values are returned if the load of a new one fails; null if they are not. */
    public @Nullable StaleOnErrorOptions staleOnError() {
        return staleOnError;
    }

    /** How long after the end of its TTL a value is kept, for readers whose load fails; zero if it is not. */
    public Duration keptPastEnd() {
        return staleOnError == null ? Duration.ZERO : staleOnError.keptFor();
    }

    /** The effective stale window: zero for a CP entry, regardless of the setting. */
    public Duration effectiveStaleWindow() {
        return effectiveStaleWindow;
    }

    /** How long an old value may be returned after an acknowledged update: the longer one of stale window and near TTL. */
    public Duration worstStaleness() {
        return nearTtl.compareTo(effectiveStaleWindow) > 0 ? nearTtl : effectiveStaleWindow;
    }

    /** Whether a reader may be given an invalidated value inside the stale window. */
    public boolean allowsStale() {
        return !effectiveStaleWindow.isZero();
    }

    /** The last part of a value's TTL in which it is refreshed: at most a tenth of the shortest TTL with jitter. */
    public Duration effectiveRefreshAhead() {
        return effectiveRefreshAhead;
    }

    /** Like {@link #effectiveRefreshAhead()}, of null and {@code Optional.empty()}. */
    public Duration effectiveNullRefreshAhead() {
        return effectiveNullRefreshAhead;
    }

    private Duration refreshAheadOf(Duration life) {
        Duration tenth = Duration.ofMillis((long) (life.toMillis() * (1 - ttlJitter)) / 10);
        return refreshAhead.compareTo(tenth) < 0 ? refreshAhead : tenth;
    }

    /** A duration as it is written in a properties file: a whole number of the largest unit that fits. */
    public static String text(Duration duration) {
        if (duration.isZero()) {
            return "0s";
        }
        if (!duration.equals(Duration.ofSeconds(duration.toSeconds()))) {
            boolean whole = duration.abs().compareTo(LONGEST_DURATION) <= 0
                    && duration.equals(Duration.ofMillis(duration.toMillis()));
            return whole ? duration.toMillis() + "ms" : duration.toString();
        }
        long seconds = duration.toSeconds();
        if (seconds % 86_400 == 0) {
            return seconds / 86_400 + "d";
        }
        if (seconds % 3_600 == 0) {
            return seconds / 3_600 + "h";
        }
        return seconds % 60 == 0 ? seconds / 60 + "m" : seconds + "s";
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof CacheOptions options && values().equals(options.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    private List<@Nullable Object> values() {
        return Arrays.asList(
                consistency,
                ttl,
                nullTtl,
                ttlJitter,
                staleWindow,
                refreshAhead,
                nearTtl,
                loadLease,
                loadWaitTimeout,
                updateLease,
                reload,
                serial,
                staleOnError);
    }

    @Override
    public String toString() {
        return "CacheOptions[consistency=" + consistency + ", ttl=" + ttl + ", nullTtl=" + nullTtl + ", ttlJitter="
                + ttlJitter + ", staleWindow=" + staleWindow + ", refreshAhead=" + refreshAhead + ", nearTtl=" + nearTtl
                + ", loadLease="
                + loadLease + ", loadWaitTimeout=" + loadWaitTimeout + ", updateLease=" + updateLease + ", reload="
                + reload + ", serial=" + serial + ", staleOnError=" + staleOnError + "]";
    }

    /** Makes {@link CacheOptions}. */
    public static final class Builder {

        private Consistency consistency = Consistency.AP;
        private Duration ttl = Duration.ofMinutes(10);
        private Duration nullTtl = Duration.ofSeconds(60);
        private double ttlJitter = 0.1;
        private Duration staleWindow = Duration.ofMillis(1500);
        private Duration refreshAhead = Duration.ofSeconds(2);
        private Duration nearTtl = Duration.ZERO;
        private Duration loadLease = Duration.ofSeconds(1);
        private Duration loadWaitTimeout = Duration.ofSeconds(3);
        private Duration updateLease = Duration.ofSeconds(30);
        private Reload reload = Reload.BACKGROUND;
        private @Nullable SerialOptions serial;
        private @Nullable StaleOnErrorOptions staleOnError;

        private Builder() {}

        /** Sets the consistency of reads during and after an update. Default: AP. */
        public Builder consistency(Consistency value) {
            this.consistency = value;
            return this;
        }

        /** Sets the time to live of a value; 10 minutes by default, at least 10 ms. */
        public Builder ttl(Duration value) {
            this.ttl = value;
            return this;
        }

        /** Sets the time to live of null and {@code Optional.empty()}; 60 seconds by default, at least 10 ms. */
        public Builder nullTtl(Duration value) {
            this.nullTtl = value;
            return this;
        }

        /**
         * Sets by which part of it (0 to 0.5) each TTL is shortened at random, so that entries stored together do not
         * expire together; 0.1 by default.
         */
        public Builder ttlJitter(double value) {
            this.ttlJitter = value;
            return this;
        }

        /**
         * Sets for how long after an update an AP reader may still be given the old value; 1.5 seconds by default. Zero
         * makes the entry strong at the moment of the update. CP readers never use it.
         */
        public Builder staleWindow(Duration value) {
            this.staleWindow = value;
            return this;
        }

        /** Sets the last part of the TTL in which one reader reloads in the background; 2 seconds by default. */
        public Builder refreshAhead(Duration value) {
            this.refreshAhead = value;
            return this;
        }

        /** Sets how long a value is kept in this JVM, without a read of Redis; 0, the default, is off. AP only. */
        public Builder nearTtl(Duration value) {
            this.nearTtl = value;
            return this;
        }

        /**
         * Sets how long one loader holds the exclusive right to load; 1 second by default, at least 10 ms. The
         * value of a load that takes up to two minutes longer is still stored.
         */
        public Builder loadLease(Duration value) {
            this.loadLease = value;
            return this;
        }

        /** Sets how long a reader waits for the load of another one before it loads itself; 3 seconds by default. */
        public Builder loadWaitTimeout(Duration value) {
            this.loadWaitTimeout = value;
            return this;
        }

        /**
         * Sets how long nothing is stored after an update that crashed; 30 seconds by default, at least 10 ms. For this time
         * AP readers may get the old value. Longer than any commit. It is renewed while the action of an update runs.
         */
        public Builder updateLease(Duration value) {
            this.updateLease = value;
            return this;
        }

        /** Sets where a value is reloaded while an older one may still be returned; in the background by default. */
        public Builder reload(Reload value) {
            this.reload = value;
            return this;
        }

        /** Lets reads and writes of one key run one after the other in this JVM; null, the default, for no order. */
        public Builder serial(@Nullable SerialOptions value) {
            this.serial = value;
            return this;
        }

        /** Lets readers have an expired value if their load fails; null, the default, for an exception. AP only. */
        public Builder staleOnError(@Nullable StaleOnErrorOptions value) {
            this.staleOnError = value;
            return this;
        }

        /**
         * Makes the options.
         *
         * @throws InvalidCacheOptionsException if a value makes no sense, alone or beside the others
         */
        public CacheOptions build() {
            return new CacheOptions(this);
        }
    }
}
