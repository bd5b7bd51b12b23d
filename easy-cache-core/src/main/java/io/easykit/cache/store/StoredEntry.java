package io.easykit.cache.store;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An entry as it is stored, at one instant of the store's clock. For people; readers decide by {@link Fetched}.
 *
 * @param now          the instant
 * @param exists       whether there is a key, of any type
 * @param ofOtherType  whether the key holds something that is no entry
 * @param timeToLive   how long the key still lives; null if it has no end, or does not exist
 * @param values       one for each version of the values' type that is in use
 * @param leasedToken  the token that successive loaders share, and the load lease; null if no loader may store a value
 * @param staleUntil   end of the stale window of an invalidated value; null if the values were not invalidated
 * @param updatesUntil the latest end of a prepared update's lease; null if no update is prepared
 * @param updates      the prepared updates
 * @param keptUntil    until when expired values are kept, as it was when they were stored; null if they go when they expire
 */
public record StoredEntry(
        Instant now,
        boolean exists,
        boolean ofOtherType,
        @Nullable Duration timeToLive,
        List<Value> values,
        @Nullable LeasedToken leasedToken,
        @Nullable Instant staleUntil,
        @Nullable Instant updatesUntil,
        List<Update> updates,
        @Nullable Instant keptUntil) {

    public StoredEntry {
        values = List.copyOf(values);
        updates = List.copyOf(updates);
    }

    /**
     * A value of one version of the type.
     *
     * @param fingerprint of the type
     * @param bytes       length of the whole, also of a damaged one
     * @param expires     end of its life; null if the value is damaged
     * @param epoch       of the prefix when it was loaded
     * @param kind        null if its format is not known here
     * @param ttl         the TTL that the value itself decided; null if its cache did
     */
    public record Value(
            String fingerprint,
            int bytes,
            @Nullable Instant expires,
            long epoch,
            Envelope.@Nullable Kind kind,
            @Nullable Duration ttl) {

        public boolean isDamaged() {
            return expires == null;
        }
    }

    /**
     * The fencing token of an entry, and the lease of the latest loader that got it.
     *
     * @param token     in hexadecimal digits
     * @param leaseEnds end of the latest loader's lease; the epoch if that loader released it
     */
    public record LeasedToken(String token, Instant leaseEnds) {}

    /**
     * A prepared update.
     *
     * @param leaseEnds until when nothing may be stored, if the update does not end before
     */
    public record Update(String token, Instant leaseEnds) {}
}
