package io.easykit.cache;

import java.util.Set;
import java.util.TreeSet;

/** A cache or an operator names a Redis cluster that is not configured. */
public final class UnknownClusterException extends EasyCacheException {

    private static final long serialVersionUID = 1L;

    private final String clusterId;

    public UnknownClusterException(String clusterId, String prefix, Set<String> known) {
        super(
                "The cache '" + prefix + "' is on Redis cluster '" + clusterId + "', which is not configured. Known: "
                        + new TreeSet<>(known) + ". Use one of them, or configure it.",
                null);
        this.clusterId = clusterId;
    }

    /** @param known ids of the configured clusters */
    public UnknownClusterException(String clusterId, Set<String> known) {
        super("There is no Redis cluster '" + clusterId + "'. Use one of " + new TreeSet<>(known) + ".", null);
        this.clusterId = clusterId;
    }

    public String clusterId() {
        return clusterId;
    }
}
