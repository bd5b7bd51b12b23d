package io.easykit.cache.admin;

import io.easykit.cache.EasyCacheException;
import java.util.Collection;
import java.util.TreeSet;

/** This node has no cache of a prefix, or has it on several Redis clusters. */
public final class UnknownCacheException extends EasyCacheException {

    private static final long serialVersionUID = 1L;

    private final String prefix;
    private final boolean ambiguous;

    private UnknownCacheException(String prefix, boolean ambiguous, String message) {
        super(message, null);
        this.prefix = prefix;
        this.ambiguous = ambiguous;
    }

    /**
     * For a prefix that no cache of this node has.
     *
     * @param known the prefixes of the caches of this node
     */
    public static UnknownCacheException unknown(String prefix, Collection<String> known) {
        return new UnknownCacheException(
                prefix,
                false,
                "This node has no cache with the prefix '" + prefix + "'. Use one of " + new TreeSet<>(known)
                        + ", or ask a node that declares it.");
    }

    /**
     * For a prefix without a cluster.
     *
     * @param clusterIds the clusters on which this node has the prefix
     */
    public static UnknownCacheException ambiguous(String prefix, Collection<String> clusterIds) {
        return new UnknownCacheException(
                prefix,
                true,
                "The prefix '" + prefix + "' is on the Redis clusters " + new TreeSet<>(clusterIds)
                        + ". Name one of them.");
    }

    /**
     * For a prefix with the wrong cluster.
     *
     * @param clusterIds the clusters on which this node has the prefix
     */
    public static UnknownCacheException elsewhere(String prefix, String clusterId, Collection<String> clusterIds) {
        return new UnknownCacheException(
                prefix,
                false,
                "This node has the prefix '" + prefix + "' on Redis cluster " + new TreeSet<>(clusterIds) + ", not on '"
                        + clusterId + "'. Name that cluster.");
    }

    public String prefix() {
        return prefix;
    }

    /** Whether the call named no cluster, and this node has the prefix on several. */
    public boolean isAmbiguous() {
        return ambiguous;
    }
}
