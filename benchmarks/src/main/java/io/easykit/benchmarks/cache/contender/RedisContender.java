package io.easykit.benchmarks.cache.contender;

import java.util.function.Function;

/**
 * The contenders at the Redis level, each with its settings other than the defaults. All entries have a TTL of ten
 * minutes.
 */
public enum RedisContender {
    RAW_GET("raw Lettuce GET", "string, one shared connection, Jackson by type", LettuceContender::get),
    RAW_HGETALL("raw Lettuce HGETALL", "hash of one field, else as GET", LettuceContender::hgetall),
    EASY_CACHE("easy-cache", "defaults", EasyCacheContender::open),
    EASY_CACHE_NEAR("easy-cache, near level", "near-ttl 1s", EasyCacheContender::openNear),
    SPRING("Spring RedisCache", "defaults: JDK serialization", SpringContender::defaults),
    SPRING_TUNED("Spring RedisCache, tuned", "sync = true, Jackson by type", SpringContender::tuned),
    SPRING_LOCKING("Spring RedisCache, locking", "as tuned, with the locking writer", SpringContender::locking),
    JET_CACHE("JetCache", "defaults: JDK serialization, fastjson2 keys", JetCacheContender::defaults),
    JET_CACHE_TUNED("JetCache, tuned", "Kryo 5, plain keys, penetration protection", JetCacheContender::tuned),
    JET_CACHE_BOTH("JetCache, BOTH", "as tuned, and a local level that keeps values for 1 s", JetCacheContender::both),
    REDISSON("Redisson", "RedissonSpringCacheManager with a ttl, Kryo 5", RedissonContender::defaults),
    REDISSON_TUNED("Redisson, tuned", "RBucket, Jackson by type", RedissonContender::tuned),
    SINGLE_LOCK("one lock for all, as RocksCache", "strong fetch, look every 100 ms", SingleLockContender::open);

    private final String title;
    private final String settings;

    @SuppressWarnings("ImmutableEnumChecker") // a method reference
    private final Function<Setup, Contender> opener;

    RedisContender(String title, String settings, Function<Setup, Contender> opener) {
        this.title = title;
        this.settings = settings;
        this.opener = opener;
    }

    public String title() {
        return title;
    }

    public String settings() {
        return settings;
    }

    public Contender open(Setup setup) {
        return opener.apply(setup);
    }
}
