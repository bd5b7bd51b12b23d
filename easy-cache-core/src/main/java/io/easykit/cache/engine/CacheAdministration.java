package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.Consistency;
import io.easykit.cache.admin.EasyCacheAdmin;
import io.easykit.cache.admin.EntryExplanation;
import io.easykit.cache.store.StoreUnavailableException;
import java.util.ArrayList;
import java.util.List;

/** Explains entries from Redis or, if it is away, from what this node knows. */
final class CacheAdministration implements EasyCacheAdmin {

    private final CacheClusters clusters;

    CacheAdministration(CacheClusters clusters) {
        this.clusters = clusters;
    }

    @Override
    public EntryExplanation explain(CacheKey<?> key) {
        CacheCluster cluster = clusters.of(key);
        try {
            return EntryExplainer.explain(
                    key, cluster.inspect(key), cluster.epochs().of(key));
        } catch (StoreUnavailableException away) {
            return unavailable(key, cluster, away);
        }
    }

    private static EntryExplanation unavailable(CacheKey<?> key, CacheCluster cluster, StoreUnavailableException away) {
        List<String> sentences = new ArrayList<>();
        sentences.add("Redis was not read: " + away.getMessage());
        if (key.spec().options().consistency() == Consistency.AP && cluster.holdsLocally(key)) {
            sentences.add("Readers on this node get the value of their local level.");
        } else {
            sentences.add(
                    "Readers on this node load for themselves, as far as the settings of degraded mode allow it.");
        }
        if (cluster.pending().holds(key)) {
            sentences.add("An invalidation of this entry waits on this node until Redis answers.");
        }
        return new EntryExplanation(key.name(), null, EntryExplanation.State.UNAVAILABLE, null, sentences, List.of());
    }
}
