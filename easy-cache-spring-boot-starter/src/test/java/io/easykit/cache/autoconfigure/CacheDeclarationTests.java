package io.easykit.cache.autoconfigure;

import static io.easykit.cache.autoconfigure.Declarations.refuses;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.Consistency;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.cache.autoconfigure.Declarations.User;
import io.easykit.cache.autoconfigure.Declarations.Valid;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.Caching;

/** Annotations and settings that fail the start of an application, with the reported method and remedy. */
class CacheDeclarationTests {

    private final ApplicationContextRunner runner = Declarations.application();

    static class SpringsToo {
        @Cacheable(prefix = "user", keys = "#id")
        @org.springframework.cache.annotation.Cacheable("user")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesSpringsAnnotationBesideOurs() {
        refuses(SpringsToo.class, "find(long)", "Spring's @Cacheable", "Keep one of them, and check the imports");
    }

    static class SpringsEvictToo {
        @UpdateCache(prefix = "user", keys = "#id")
        @CacheEvict("user")
        public void delete(long id) {}
    }

    @Test
    void refusesSpringsEvictBesideOurs() {
        refuses(SpringsEvictToo.class, "delete(long)", "Spring's @CacheEvict", "Keep one of them");
    }

    @org.springframework.cache.annotation.Cacheable("all")
    static class SpringsOnTheClass {
        @Cacheable(prefix = "user", keys = "#id")
        public User find(long id) {
            return new User(id, "");
        }
    }

    /** Spring's proxies of classes intercept such methods, too. */
    @org.springframework.cache.annotation.Cacheable("all")
    static class SpringsOnTheClassOfHidden {
        @Cacheable(prefix = "user", keys = "#id")
        User find(long id) {
            return new User(id, "");
        }
    }

    @CacheEvict("user")
    interface Evicting {}

    static class SpringsOnAnInterface implements Evicting {
        @UpdateCache(prefix = "user", keys = "#id")
        public void delete(long id) {}
    }

    @Caching
    static class SpringsInherited {
        @Cacheable(prefix = "user", keys = "#id")
        public User find(long id) {
            return new User(id, "");
        }
    }

    static class InheritedByThis extends SpringsInherited {}

    @Test
    void refusesSpringsAnnotationOnTheClass() {
        String both = "applies to all of its methods, so two caches would be used";
        refuses(SpringsOnTheClass.class, "find(long)", "Spring's @Cacheable is on", both, "to a class without it");
        refuses(SpringsOnTheClassOfHidden.class, "find(long)", "Spring's @Cacheable is on", both, "single methods");
        refuses(
                SpringsOnAnInterface.class,
                "delete(long)",
                "Spring's @CacheEvict is on " + Evicting.class.getName(),
                both,
                "single methods");
        refuses(InheritedByThis.class, "find(long)", "Spring's @Caching is on", both, "single methods");
    }

    static class Plain {
        @Cacheable(prefix = "user", keys = "#id")
        public User find(long id) {
            return new User(id, "");
        }
    }

    /** Spring applies it to the methods that the class itself declares. */
    @org.springframework.cache.annotation.Cacheable("all")
    static class SpringsOnASubclass extends Plain {}

    @Test
    void takesAnInheritedMethodToWhichSpringsAnnotationDoesNotApply() {
        runner.withBean(SpringsOnASubclass.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Retention(RetentionPolicy.RUNTIME)
    @Cacheable(prefix = "short", keys = "#id", ttl = "10s")
    @interface ShortLived {}

    @Retention(RetentionPolicy.RUNTIME)
    @Cacheable(prefix = "long", keys = "#id", ttl = "1h")
    @interface LongLived {}

    static class TwoReads {
        @ShortLived
        @LongLived
        public User find(long id) {
            return new User(id, "");
        }
    }

    static class ComposedAndDirectRead {
        @ShortLived
        @Cacheable(prefix = "user", keys = "#id")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesTwoReadsOnOneMethod() {
        refuses(TwoReads.class, "find(long)", "2 @Cacheables are on one method", "Keep one of them");
        refuses(ComposedAndDirectRead.class, "find(long)", "2 @Cacheables are on one method", "Keep one of them");
    }

    static class ReadAndUpdate {
        @Cacheable(prefix = "user", keys = "#id")
        @UpdateCache(prefix = "user", keys = "#id")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesAReadThatIsAnUpdate() {
        refuses(ReadAndUpdate.class, "find(long)", "@Cacheable and @UpdateCache are on one method", "Keep one");
    }

    static class TwoConsistencies {
        @Cacheable(prefix = "user", keys = "#id")
        public User find(long id) {
            return new User(id, "");
        }

        @Cacheable(prefix = "user", keys = "#id", consistency = Consistency.CP)
        public User get(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesAPrefixWithTwoConsistencies() {
        refuses(TwoConsistencies.class, "another consistency or stale window by @Cacheable", "Use the same in both");
    }

    static class TwoTypes {
        @Cacheable(prefix = "user", keys = "#id")
        public User find(long id) {
            return new User(id, "");
        }

        @Cacheable(prefix = "user", keys = "#id")
        public List<User> friends(long id) {
            return List.of();
        }
    }

    @Test
    void refusesAPrefixWithTwoTypes() {
        refuses(TwoTypes.class, "neither could read what the other stores", "another prefix");
    }

    static class UnknownCluster {
        @Cacheable(clusterId = "trade", prefix = "user", keys = "#id")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesAnUnknownCluster() {
        refuses(UnknownCluster.class, "find(long)", "cluster 'trade' is not configured", "Use one of [default, other]");
    }

    static class CachedElsewhere {
        @Cacheable(clusterId = "other", prefix = "user", keys = "#id")
        public User find(long id) {
            return new User(id, "");
        }

        @UpdateCache(prefix = "user", keys = "#id")
        public void update(long id) {}
    }

    @Test
    void refusesAnUpdateOnAnotherClusterThanTheCache() {
        refuses(CachedElsewhere.class, "update(long)", "but that is cached on [other]", "clusterId of the @Cacheable");
    }

    // Durations and settings

    static class ShortTtl {
        @Cacheable(prefix = "user", keys = "#id", ttl = "1s")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesATtlInsideTheStaleWindow() {
        refuses(ShortTtl.class, "find(long)", "ttl of 1s. Lengthen the ttl", "Correct the annotation");
    }

    @Test
    void refusesASettingThatMakesAnAnnotationImpossible() {
        refuses(
                runner.withPropertyValues("easy-cache.caches.user.stale-window=1h"),
                Valid.class,
                "find(long)",
                "not shorter than the ttl of 10m",
                "easy-cache.caches.user");
    }

    static class BadDuration {
        @Cacheable(prefix = "user", keys = "#id", ttl = "soon")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesWhatIsNoDuration() {
        refuses(BadDuration.class, "find(long)", "ttl = \"soon\" is not a duration", "1500ms, 30s, 10m or 2h");
    }

    static class NoUnit {
        @Cacheable(prefix = "user", keys = "#id", ttl = "10")
        public User find(long id) {
            return new User(id, "");
        }
    }

    static class NearAndStrong {
        @Cacheable(prefix = "hot", keys = "#id", consistency = Consistency.CP, nearTtl = "1s")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesANearLevelForAStrongCache() {
        refuses(
                NearAndStrong.class,
                "find(long)",
                "the cache 'hot' cannot be used",
                "'near-ttl' of 1s cannot be used with consistency CP",
                "Set it to 0s for this cache, or choose consistency AP",
                "Correct the annotation, or the setting easy-cache.caches.hot.");
    }

    static class KeptAndStrong {
        @Cacheable(prefix = "kept", keys = "#id", consistency = Consistency.CP, staleOnError = "1h")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesExpiredValuesOfAStrongCache() {
        refuses(
                KeptAndStrong.class,
                "find(long)",
                "the cache 'kept' cannot be used",
                "'stale-on-error' of 1h cannot be used with consistency CP",
                "Set it to 0s for this cache, or choose consistency AP",
                "Correct the annotation, or the setting easy-cache.caches.kept.");
    }

    static class SoftAlone {
        @Cacheable(prefix = "soft", keys = "#id", loadSoftTimeout = "200ms")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesASoftTimeoutWithoutExpiredValues() {
        refuses(
                SoftAlone.class,
                "find(long)",
                "the cache 'soft' cannot be used",
                "'load-soft-timeout' has no effect, because the cache has no 'stale-on-error'",
                "Set 'stale-on-error' of this cache, for example to 1h, or remove it",
                "Correct the annotation, or the setting easy-cache.caches.soft.");
    }

    @Test
    void refusesADurationWithoutUnit() {
        refuses(NoUnit.class, "find(long)", "it has no unit", "Write a number with its unit");
    }

    static class Placeholder {
        @Cacheable(prefix = "${users.name}", keys = "#id", ttl = "${users.ttl:10m}")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesAPlaceholderWithoutValue() {
        refuses(Placeholder.class, "find(long)", "prefix = \"${users.name}\"", "Set the property");
    }

    static class WithoutAPrefix {

        @Cacheable(prefix = "", keys = "#id")
        public User find(long id) {
            return new User(id, "a");
        }
    }

    @Test
    void namesNoSettingOfACacheWithoutAPrefix() {
        refuses(WithoutAPrefix.class, "the cache '' cannot be used", "Correct the annotation.");
    }
}
