package io.easykit.benchmarks.cache.contender;

import java.util.function.Function;

/** The contenders at the local level, and the cost of their annotations over a store without costs. */
public enum LocalContender {
    METHOD("the method itself", "returns one object", source -> Contender.of(source, () -> {})),
    CAFFEINE("raw Caffeine", "get(key, loader)", LocalContenders::caffeine),
    EASY_CACHE("easy-cache", "local level, over a store that is away", LocalContenders::easyCache),
    EASY_CACHE_COPIES(
            "easy-cache, List<Product>", "as above; what can be changed is decoded anew", LocalContenders::copies),
    EASY_CACHE_NEAR(
            "easy-cache, near level", "near-ttl 5m, over a store that has the value", LocalContenders::easyCacheNear),
    SPRING("Spring + Caffeine", "defaults", source -> LocalContenders.spring(source, false)),
    SPRING_TUNED("Spring + Caffeine, tuned", "sync = true", source -> LocalContenders.spring(source, true)),
    JET_CACHE("JetCache", "LOCAL, Caffeine, fastjson2 keys", LocalContenders::jetCache),
    JET_CACHE_TUNED("JetCache, tuned", "LOCAL, Caffeine, keys as they are", LocalContenders::jetCacheTuned),
    JET_CACHE_BOTH("JetCache, BOTH", "as tuned, with a Redis behind it", LocalContenders::jetCacheBoth),
    EASY_CACHE_ANNOTATION(
            "easy-cache, annotation alone", "over a store that has the value", LocalContenders::easyCacheAnnotation),
    EASY_CACHE_CALL(
            "easy-cache, call alone", "fetch(spec.key(id), loader), same store", LocalContenders::easyCacheCall),
    PROXY("a Spring proxy alone", "its interceptor returns one object", LocalContenders::proxy),
    SPRING_ANNOTATION("Spring, annotation alone", "over a cache that has the value", LocalContenders::springAnnotation);

    private final String title;
    private final String settings;

    @SuppressWarnings("ImmutableEnumChecker") // a method reference
    private final Function<Products, Contender> opener;

    LocalContender(String title, String settings, Function<Products, Contender> opener) {
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

    /** A contender in front of a method that always returns the same product. */
    public Contender open() {
        Product product = Product.of(1);
        return opener.apply(id -> product);
    }
}
