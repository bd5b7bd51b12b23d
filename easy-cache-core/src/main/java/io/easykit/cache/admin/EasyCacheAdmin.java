package io.easykit.cache.admin;

import io.easykit.cache.Availability;
import io.easykit.cache.CacheKey;
import io.easykit.cache.InvalidCacheKeyException;
import io.easykit.cache.UnknownClusterException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Shows the caches and Redis clusters of this node, explains single entries, and invalidates them on behalf of an operator.
 * Thread-safe.
 *
 * <p>An action takes effect at once, also inside a transaction of the caller. All actions throw
 * {@link CacheDisabledException} if the cache is switched off.
 */
public interface EasyCacheAdmin {

    /** Shows each Redis cluster of this node by its id. Sends nothing to Redis. Empty if the cache is switched off. */
    List<ClusterInfo> clusters();

    /**
     * Shows each cache that this node declares or has used since its start, by prefix. Sends nothing to Redis.
     */
    List<CacheInfo> caches();

    /**
     * Explains the next read of an entry. Reads it once and changes nothing: an entry that is a miss
     * stays one, and no reader gets the lease to load. If Redis does not answer, the explanation covers this node only.
     *
     * @throws UnknownClusterException if the key's cluster is not configured
     */
    EntryExplanation explain(CacheKey<?> key);

    /**
     * Makes the key of an entry from texts, as a person types them. Each text is read as the declared type of its part: for a
     * {@code long} part {@code 42} is the number, for a {@code String} part it is the text. Of a part whose type is not known,
     * a whole number without leading zeros, {@code true}, {@code false} and a UUID have these types; all else is a
     * text.
     *
     * @param clusterId null if this node has the prefix on one cluster only
     * @throws UnknownCacheException if this node has no such cache, or has it on several clusters
     * @throws InvalidCacheKeyException if a text is not of the type of its part, the number of parts is wrong, or the type
     *     cannot be typed; then use {@link #keyNamed}
     */
    CacheKey<?> key(@Nullable String clusterId, String prefix, List<String> parts);

    /**
     * Makes the key of an entry from its name, as {@link EntryExplanation#key} has it. In Redis the key prefix stands in front
     * of it.
     *
     * @param clusterId null if this node has the prefix on one cluster only
     * @throws UnknownCacheException if this node has no such cache, or has it on several clusters
     * @throws InvalidCacheKeyException if it is not the name of an entry, or has another number of parts than the declared keys
     */
    CacheKey<?> keyNamed(@Nullable String clusterId, String name);

    /**
     * Invalidates an entry as an update does: a load that has begun before is not stored. No stale window: the value is
     * dropped at once. This node's local level drops it, too. A local level of another node is used only while that node does
     * not reach Redis, so it may return the value until the TTL of the level.
     *
     * @return whether Redis has acknowledged it; if not, this node delivers it when Redis answers, or another one delivers it
     *     from the outbox
     * @throws UnknownClusterException if the key's cluster is not configured
     */
    boolean evict(CacheKey<?> key);

    /**
     * Invalidates all entries of a prefix by raising its epoch, however many they are: no key is searched for or deleted. A
     * load that has begun before has no effect on later reads. This node follows at once, others within a probe interval (one
     * second). Entries of other prefixes that were computed from these stay.
     *
     * @param clusterId null if this node has the prefix on one cluster only
     * @return whether Redis has acknowledged it; if not, this node delivers it when Redis answers, or another one delivers it
     *     from the outbox
     * @throws UnknownCacheException if this node has no such cache, or has it on several clusters
     */
    boolean drop(@Nullable String clusterId, String prefix);

    /**
     * Sets the state of a cluster on this node until {@link #reset}; see {@link Availability#force}.
     *
     * @throws UnknownClusterException if it is not configured
     */
    void force(String clusterId, Availability.State state);

    /**
     * Lets the circuit breakers of this node decide again; see {@link Availability#reset}.
     *
     * @throws UnknownClusterException if it is not configured
     */
    void reset(String clusterId);
}
