package io.easykit.cache.engine;

import io.easykit.cache.Availability;
import io.easykit.cache.CacheKey;
import io.easykit.cache.admin.CacheDisabledException;
import io.easykit.cache.admin.CacheInfo;
import io.easykit.cache.admin.ClusterInfo;
import io.easykit.cache.admin.EasyCacheAdmin;
import io.easykit.cache.admin.EntryExplanation;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Explains that the cache is switched off, and refuses all actions. */
final class DisabledAdministration implements EasyCacheAdmin {

    @Override
    public List<ClusterInfo> clusters() {
        return List.of();
    }

    @Override
    public List<CacheInfo> caches() {
        return List.of();
    }

    @Override
    public EntryExplanation explain(CacheKey<?> key) {
        return new EntryExplanation(
                key.name(),
                null,
                EntryExplanation.State.UNAVAILABLE,
                null,
                List.of("The cache is switched off: each read calls its loader."),
                List.of());
    }

    @Override
    public CacheKey<?> key(@Nullable String clusterId, String prefix, List<String> parts) {
        throw new CacheDisabledException();
    }

    @Override
    public CacheKey<?> keyNamed(@Nullable String clusterId, String name) {
        throw new CacheDisabledException();
    }

    @Override
    public boolean evict(CacheKey<?> key) {
        throw new CacheDisabledException();
    }

    @Override
    public boolean drop(@Nullable String clusterId, String prefix) {
        throw new CacheDisabledException();
    }

    @Override
    public void force(String clusterId, Availability.State state) {
        throw new CacheDisabledException();
    }

    @Override
    public void reset(String clusterId) {
        throw new CacheDisabledException();
    }
}
