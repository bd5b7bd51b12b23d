package io.easykit.cache.admin;

import io.easykit.cache.EasyCacheException;

/** An action of an operator on a cache that is switched off. */
public final class CacheDisabledException extends EasyCacheException {

    private static final long serialVersionUID = 1L;

    public CacheDisabledException() {
        super(
                "The cache is switched off on this node: it uses no Redis, and no action has an effect. Act on a node that"
                        + " caches, or set easy-cache.enabled to true.",
                null);
    }
}
