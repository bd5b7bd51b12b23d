package io.easykit.cache.admin;

import io.easykit.cache.Consistency;
import java.time.Duration;
import java.util.List;

/**
 * One cache of this node: a prefix on one Redis cluster.
 *
 * @param consistency    consistency of its reads
 * @param worstStaleness how long a value may be returned after an update, while every node reaches Redis and no node dies;
 *     {@link CacheDeclaration#staleness} names the exceptions
 * @param declarations   where it is declared, with the settings in force there; methods of one prefix may differ in some. Empty
 *     if this node only invalidates its entries
 * @param numbers        reads and loads of this node
 */
public record CacheInfo(
        String prefix,
        String clusterId,
        Consistency consistency,
        Duration worstStaleness,
        List<CacheDeclaration> declarations,
        CacheNumbers numbers) {

    public CacheInfo {
        declarations = List.copyOf(declarations);
    }
}
