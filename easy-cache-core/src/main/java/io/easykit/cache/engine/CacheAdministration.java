package io.easykit.cache.engine;

import io.easykit.cache.Availability;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.InvalidCacheKeyException;
import io.easykit.cache.OutboxBacklog;
import io.easykit.cache.UnknownClusterException;
import io.easykit.cache.admin.CacheDeclaration.KeyPart;
import io.easykit.cache.admin.CacheInfo;
import io.easykit.cache.admin.ClusterInfo;
import io.easykit.cache.admin.EasyCacheAdmin;
import io.easykit.cache.admin.EntryExplanation;
import io.easykit.cache.store.StoreUnavailableException;
import io.easykit.cache.type.KeyText;
import io.easykit.cache.type.TypedText;
import io.easykit.cache.type.UnfitKeyException;
import io.easykit.cache.type.VisibleText;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Shows and changes what this node caches. Explains entries from Redis or, if it is away, from what this node has. */
final class CacheAdministration implements EasyCacheAdmin {

    private static final Logger log = LoggerFactory.getLogger(EasyCacheAdmin.class);
    private static final String WITHHELD =
            "This node has invalidated the entry shortly before it got a new connection to Redis, which may lead to another"
                    + " server. Until it has repeated the invalidation, readers on this node get no stored value and load for"
                    + " themselves.";

    private final CacheClusters clusters;
    private final KnownCaches caches;

    CacheAdministration(CacheClusters clusters, KnownCaches caches) {
        this.clusters = clusters;
        this.caches = caches;
    }

    @Override
    public List<ClusterInfo> clusters() {
        return clusters.byId().entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(one -> info(one.getKey(), one.getValue()))
                .toList();
    }

    private static ClusterInfo info(String id, CacheCluster cluster) {
        ClusterAvailability availability = cluster.availability();
        OutboxRelay relay = cluster.relay();
        OutboxBacklog backlog = relay == null ? null : relay.backlog();
        return new ClusterInfo(
                id,
                availability.state(),
                availability.forcedState(),
                cluster.pending().size(),
                backlog,
                availability.problems(),
                availability.masters());
    }

    @Override
    public List<CacheInfo> caches() {
        return caches.all();
    }

    @Override
    public EntryExplanation explain(CacheKey<?> key) {
        CacheCluster cluster = clusters.of(key);
        EntryExplanation told = explain(key, cluster);
        if (cluster.pending().holds(key)) {
            return undelivered(told);
        }
        if (told.state() != EntryExplanation.State.UNAVAILABLE
                && cluster.store().withholds(key)) {
            return ownNode(told, EntryExplanation.State.WITHHELD, WITHHELD);
        }
        return cluster.holdsNear(key)
                ? and(
                        told,
                        "Readers on this node get the value of their near level, for at most "
                                + CacheOptions.text(key.spec().options().nearTtl())
                                + " after it was read from Redis.")
                : told;
    }

    private static EntryExplanation undelivered(EntryExplanation told) {
        String waits = "An invalidation of this entry waits on this node until Redis takes it.";
        if (told.state() == EntryExplanation.State.UNAVAILABLE) {
            return and(told, waits);
        }
        return ownNode(
                told,
                EntryExplanation.State.UNDELIVERED,
                waits + " Until then readers on this node load for themselves.");
    }

    /** What holds for readers on this node only, before what the store has for all others. */
    private static EntryExplanation ownNode(EntryExplanation told, EntryExplanation.State state, String here) {
        List<String> sentences = new ArrayList<>();
        sentences.add(here);
        sentences.add("For readers on other nodes the following holds.");
        sentences.addAll(told.sentences());
        return new EntryExplanation(told.key(), told.at(), state, told.nextRead(), sentences, told.fields());
    }

    private static EntryExplanation explain(CacheKey<?> key, CacheCluster cluster) {
        try {
            return withLimits(
                    key,
                    EntryExplainer.explain(
                            key, cluster.store().inspect(key), cluster.epochs().of(key)));
        } catch (StoreUnavailableException away) {
            return unavailable(key, cluster, away);
        }
    }

    /** A node that only updates an entry has no type for its values, so it cannot tell which of them are readable. */
    private static EntryExplanation withLimits(CacheKey<?> key, EntryExplanation told) {
        if (key.spec().type() != Object.class) {
            return told;
        }
        return and(
                told,
                "This node only invalidates entries of '" + key.spec().prefix()
                        + "'. Explain the entry on a node that reads it: which values are readable is known there.");
    }

    private static EntryExplanation and(EntryExplanation told, String sentence) {
        List<String> sentences = new ArrayList<>(told.sentences());
        sentences.add(sentence);
        return new EntryExplanation(told.key(), told.at(), told.state(), told.nextRead(), sentences, told.fields());
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
        return new EntryExplanation(key.name(), null, EntryExplanation.State.UNAVAILABLE, null, sentences, List.of());
    }

    @Override
    public CacheKey<?> key(@Nullable String clusterId, String prefix, List<String> parts) {
        KnownCaches.Known cache = caches.find(clusterId, prefix);
        List<KeyPart> declared = cache.keyParts(parts.size());
        if (declared.isEmpty() && !cache.keys().isEmpty()) {
            throw new InvalidCacheKeyException("A key of '" + prefix + "' has the parts "
                    + String.join(" or ", cache.keys()) + ", but " + parts.size()
                    + (parts.size() == 1 ? " was" : " were")
                    + " given. Give each of them, in this order, or the name of the key.");
        }
        List<Object> values = new ArrayList<>(parts.size());
        for (int i = 0; i < parts.size(); i++) {
            values.add(value(prefix, parts.get(i), declared.isEmpty() ? null : declared.get(i)));
        }
        return cache.spec().keyOf(values);
    }

    private static Object value(String prefix, String text, @Nullable KeyPart part) {
        try {
            return TypedText.read(text, part == null ? null : part.type());
        } catch (UnfitKeyException unfit) {
            throw new InvalidCacheKeyException("The key part '" + VisibleText.of(text) + "' of '" + prefix + "' "
                    + (part == null ? "" : "(" + part.text() + ") ") + unfit.getMessage());
        }
    }

    @Override
    public CacheKey<?> keyNamed(@Nullable String clusterId, String name) {
        int end = name.indexOf("::");
        if (end < 0) {
            throw new InvalidCacheKeyException(
                    "'" + VisibleText.of(name)
                            + "' is not the name of an entry. Such a name is a prefix, two colons and the parts, as in user::42.");
        }
        KnownCaches.Known cache = caches.find(clusterId, name.substring(0, end));
        CacheKey<?> key = CacheKey.named(cache.spec(), name);
        int parts = KeyText.count(name.substring(end + 2));
        if (!cache.mayHaveKeyOf(parts)) {
            throw new InvalidCacheKeyException("A key of '" + cache.spec().prefix() + "' has the parts "
                    + String.join(" or ", cache.keys()) + ", but '" + VisibleText.of(name) + "' has " + parts
                    + ". Give the whole name, as an explanation or Redis shows it.");
        }
        return key;
    }

    @Override
    public boolean evict(CacheKey<?> key) {
        CacheCluster cluster = clusters.of(key);
        // A key by its name is invalidated as under CP, without a stale window.
        List<CacheKey<?>> keys = List.of(CacheKey.named(key.spec().clusterId(), key.name()));
        return !cluster.invalidate(keys, UpdateEnd.unprepared(keys)).isEmpty();
    }

    @Override
    public boolean drop(@Nullable String clusterId, String prefix) {
        CacheSpec<?> spec = caches.find(clusterId, prefix).spec();
        boolean acknowledged = clusters.of(spec).drop(spec.all());
        log.info(
                "All entries of '{}' in Redis '{}' are dropped by an operator{}",
                prefix,
                spec.clusterId(),
                acknowledged ? "" : ", as soon as it answers");
        return acknowledged;
    }

    @Override
    public void force(String clusterId, Availability.State state) {
        availability(clusterId).force(state);
    }

    @Override
    public void reset(String clusterId) {
        availability(clusterId).reset();
    }

    private Availability availability(String clusterId) {
        CacheCluster cluster = clusters.byId().get(clusterId);
        if (cluster == null) {
            throw new UnknownClusterException(clusterId, clusters.byId().keySet());
        }
        return cluster.availability();
    }
}
