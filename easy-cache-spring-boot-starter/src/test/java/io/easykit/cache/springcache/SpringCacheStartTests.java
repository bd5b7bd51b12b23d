package io.easykit.cache.springcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.EasyCache;
import io.easykit.cache.InvalidCacheCallException;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.cache.aop.CachedMethods;
import io.easykit.cache.aop.SpringDeclarations;
import io.easykit.cache.autoconfigure.DisabledEasyCacheAutoConfiguration;
import io.easykit.cache.autoconfigure.EasyCacheAutoConfiguration;
import io.easykit.cache.autoconfigure.EasyCacheSpringCacheAutoConfiguration;
import io.easykit.test.StartFailure;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.cache.autoconfigure.CacheAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cache.Cache;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.CachePut;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.CachingConfigurer;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.cache.config.CacheManagementConfigUtils;
import org.springframework.cache.interceptor.CacheErrorHandler;
import org.springframework.cache.interceptor.CacheInterceptor;
import org.springframework.cache.interceptor.CacheOperationSource;
import org.springframework.cache.interceptor.CacheResolver;
import org.springframework.cache.interceptor.LoggingCacheErrorHandler;
import org.springframework.cache.interceptor.NameMatchCacheOperationSource;
import org.springframework.cache.interceptor.SimpleCacheResolver;
import org.springframework.cache.support.CompositeCacheManager;
import org.springframework.cache.support.NoOpCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.test.util.AopTestUtils;
import reactor.core.publisher.Flux;

/** The checks at the start of an application with Spring's annotations, and their reports. No Redis answers. */
@ExtendWith(OutputCaptureExtension.class)
class SpringCacheStartTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    AopAutoConfiguration.class,
                    DataRedisAutoConfiguration.class,
                    DisabledEasyCacheAutoConfiguration.class,
                    EasyCacheAutoConfiguration.class,
                    EasyCacheSpringCacheAutoConfiguration.class))
            .withPropertyValues(
                    "spring.data.redis.port=1",
                    "easy-cache.caches.strong.consistency=cp",
                    "easy-cache.caches.serial.serial=true");

    private final ApplicationContextRunner enabled =
            runner.withUserConfiguration(Caching.class).withPropertyValues("easy-cache.spring-cache.enabled=true");

    @Configuration(proxyBeanMethods = false)
    @EnableCaching
    static class Caching {}

    record User(long id, String name) {}

    static class Users {

        final AtomicInteger loads = new AtomicInteger();

        @Cacheable("user")
        public User find(long id) {
            loads.incrementAndGet();
            return new User(id, "Ada");
        }

        @CacheEvict("user")
        public void evict(long id) {}
    }

    private void refuses(Class<?> bean, String... parts) {
        enabled.withBean(bean).run(context -> {
            assertThat(context).hasFailed();
            FailureAnalysis analysis = StartFailure.analysis(context.getStartupFailure());
            assertThat(analysis).isNotNull();
            assertThat(analysis.getDescription() + " | " + analysis.getAction())
                    .contains(bean.getName())
                    .contains(parts);
            assertThat(analysis.getAction()).contains(parts[parts.length - 1]);
        });
    }

    static class UnknownType {
        @Cacheable("any")
        public Object find(long id) {
            return id;
        }
    }

    @Test
    void refusesValuesOfAnUnknownType() {
        refuses(UnknownType.class, "cannot be restored from the type", "Declare the type of the values");
    }

    static class AbstractType {
        @Cacheable("any")
        public Runnable find(long id) {
            return () -> {};
        }
    }

    @Test
    void refusesTypesThatCannotBeRead() {
        refuses(AbstractType.class, "can be written but not read again", "put @JsonTypeInfo on an abstract type");
    }

    record Point(int x, int y) {}

    static class PositionInACondition {
        @Cacheable(cacheNames = "user", key = "#id", condition = "#p0 != null")
        public User find(long id, Point p0) {
            return new User(id, "");
        }
    }

    static class PositionInAVeto {
        @Cacheable(cacheNames = "user", key = "#id", unless = "#p0 == null")
        public User find(long id, Point p0) {
            return new User(id, "");
        }
    }

    static class PositionInAnUpdate {
        @Cacheable("user")
        public User find(Point point) {
            return new User(1, "");
        }

        @CacheEvict(cacheNames = "user", key = "#p1")
        public void move(Point p1, Point p2) {}
    }

    @ParameterizedTest
    @ValueSource(classes = {PositionInACondition.class, PositionInAVeto.class, PositionInAnUpdate.class})
    void refusesTheNameOfAParameterThatIsThePositionOfAnother(Class<?> bean) {
        refuses(bean, "is the name of one parameter and the position of another", "Rename the parameter");
    }

    static class UpdateBesideARefusedRead extends PositionInACondition {
        @CacheEvict("user")
        public void evict(long id) {}
    }

    /** Its cache would be known if the method were not refused. */
    @Test
    void doesNotReportTheUpdatesOfACacheWhoseMethodIsRefused() {
        enabled.withBean(UpdateBesideARefusedRead.class).run(context -> {
            FailureAnalysis analysis = StartFailure.analysis(context.getStartupFailure());
            assertThat(analysis).isNotNull();
            assertThat(analysis.getDescription())
                    .contains("is the name of one parameter and the position of another")
                    .doesNotContain("no @Cacheable has the cache name");
        });
    }

    static class ManyUpdates {
        @CacheEvict("user")
        public Flux<User> update(long id) {
            return Flux.empty();
        }
    }

    static class BareFuture {
        @Cacheable("user")
        public Future<User> find(long id) {
            return null;
        }
    }

    @Test
    void refusesAsynchronousMethodsThatDoNotReturnOneValue() {
        refuses(ManyUpdates.class, "does not return one value", "Return a CompletableFuture or a Mono");
        refuses(BareFuture.class, "does not return one value", "Return a CompletableFuture or a Mono");
    }

    static class UpdatesNothing {
        @CacheEvict("nobody")
        public void update(long id) {}
    }

    @Test
    void acceptsAnUpdateOfACacheThatIsReadElsewhere() {
        enabled.withPropertyValues("easy-cache.external-prefixes=nobody")
                .withBean(UpdatesNothing.class)
                .run(context -> assertThat(context).hasNotFailed());
        enabled.withBean("nobody", CacheSpec.class, () -> CacheSpec.of("nobody", User.class))
                .withBean(UpdatesNothing.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    static class StrongUpdates {
        @Cacheable("strong")
        public User find(long id) {
            return new User(id, "Ada");
        }

        @CacheEvict(cacheNames = "strong", key = "#resultId")
        public void byName(long resultId) {}

        @CacheEvict(cacheNames = "strong", key = "#id", condition = "#result != null")
        public User byCondition(long id) {
            return null;
        }
    }

    /** The key is that of a parameter, so the entry can be prepared. */
    @Test
    void acceptsAConditionOverTheResultAndParametersWithASimilarName() {
        enabled.withBean(StrongUpdates.class).run(context -> assertThat(context).hasNotFailed());
    }

    @Configuration(proxyBeanMethods = false)
    static class LazySpec {

        @Bean
        @Lazy
        CacheSpec<User> users() {
            return CacheSpec.of("user", User.class)
                    .withOptions(
                            CacheOptions.builder().consistency(Consistency.CP).build());
        }
    }

    @Test
    void aLazySpecAppliesToTheMethodsOfItsCache() {
        enabled.withUserConfiguration(LazySpec.class).withBean(Users.class).run(context -> {
            assertThat(context).hasNotFailed();
            CacheSpec<?> spec = context.getBean(SpringDeclarations.class).specOf("user");
            assertThat(spec.options().consistency()).isEqualTo(Consistency.CP);
        });
    }

    static class OwnUpdate {
        @UpdateCache(prefix = "user", keys = "#id")
        public void update(long id) {}
    }

    @Test
    void itsCachesCanBeUpdatedByTheOwnAnnotation() {
        enabled.withBean(Users.class).withBean(OwnUpdate.class).run(context -> assertThat(context)
                .hasNotFailed());
    }

    @Test
    void refusesAnotherTypeInTheCacheOfAnOwnAnnotation() {
        refuses(UsersBesideOwn.class, "the cache 'user' already holds java.lang.String", "Use another cache name");
    }

    static class UsersBesideOwn {
        @Cacheable("user")
        public User find(long id) {
            return new User(id, "Ada");
        }

        @io.easykit.cache.annotation.Cacheable(prefix = "user", keys = "#id")
        public String name(long id) {
            return "Ada";
        }
    }

    @Test
    void logsWhatIsCached(CapturedOutput output) {
        enabled.withPropertyValues("easy-cache.caches.user.stale-window=0s")
                .withBean(Users.class)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output)
                .containsOnlyOnce(
                        "SpringCacheStartTests.Users.find(long) -> ec:user::{parameters} on default, AP, ttl 10m,"
                                + " worst staleness 0s while every node reaches Redis")
                .doesNotContain("has settings for 'user'");
    }

    static class LateKey {

        @Cacheable("user")
        public User find(long id) {
            return new User(id, "Ada");
        }

        @CachePut(cacheNames = "user", key = "#result.id")
        public User create(String name) {
            return new User(1, name);
        }
    }

    @Test
    void logsTheStalenessOfKeysOverTheResult(CapturedOutput output) {
        enabled.withBean(LateKey.class).run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(context.getBean(CachedMethods.class).declared())
                    .isNotEmpty()
                    .allSatisfy(cache -> assertThat(cache.staleness()).contains("keys over #result"));
        });
        assertThat(output).containsOnlyOnce("keys over #result are invalidated when it returns");
    }

    static class ResultParameter {

        @Cacheable("strong")
        public User find(long id) {
            return new User(id, "Ada");
        }

        @CacheEvict(cacheNames = "strong", key = "#result.id")
        public void save(User result) {}
    }

    @Test
    void acceptsAParameterNamedResultOfAMethodWithoutOne() {
        enabled.withBean(ResultParameter.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void theTypeOfTheCacheHasNoEffect() {
        enabled.withConfiguration(AutoConfigurations.of(CacheAutoConfiguration.class))
                .withPropertyValues("spring.cache.type=none")
                .withBean(Users.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context.getBean(CacheManager.class)).isInstanceOf(SpringCacheManager.class);
                });
    }

    @Test
    void runsWithoutRedis() {
        enabled.withBean(Users.class).run(context -> {
            Users users = context.getBean(Users.class);
            assertThat(users.find(1)).isEqualTo(new User(1, "Ada"));
            users.evict(1);
            assertThat(users.find(1)).isEqualTo(new User(1, "Ada"));
            assertThat(((Users) AopTestUtils.getTargetObject(users)).loads).hasValue(2);
        });
    }

    @Configuration(proxyBeanMethods = false)
    static class Handling implements CachingConfigurer {

        @Override
        public CacheErrorHandler errorHandler() {
            return new LoggingCacheErrorHandler();
        }
    }

    @Test
    void callsNoErrorHandler(CapturedOutput output) {
        enabled.withUserConfiguration(Handling.class).withBean(Users.class).run(context -> {
            Users users = context.getBean(Users.class);
            assertThat(users.find(1)).isEqualTo(new User(1, "Ada"));
            users.evict(1);
        });
        assertThat(output).doesNotContain(LoggingCacheErrorHandler.class.getSimpleName());
    }

    @ParameterizedTest
    @ValueSource(strings = {"on", "yes", "1", "TRUE"})
    void isOnForAllThatBindsToTrue(String on) {
        runner.withUserConfiguration(Caching.class)
                .withPropertyValues("easy-cache.spring-cache.enabled=" + on, "easy-cache.spring-cache.primary=" + on)
                .withBean("maps", CacheManager.class, ConcurrentMapCacheManager::new)
                .withBean(Users.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context.getBean(CacheManager.class)).isInstanceOf(SpringCacheManager.class);
                });
    }

    @Test
    void isOffByDefault() {
        runner.withUserConfiguration(Caching.class)
                .withBean(ConcurrentMapCacheManager.class)
                .withBean(Users.class)
                .run(context -> {
                    assertThat(context).hasNotFailed().doesNotHaveBean(SpringCacheManager.class);
                    assertThat(context).doesNotHaveBean(SpringCacheMethods.class);
                });
        runner.run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(CacheManager.class));
    }

    @Test
    void leavesTheApplicationItsCacheManager(CapturedOutput output) {
        enabled.withBean("maps", CacheManager.class, ConcurrentMapCacheManager::new)
                .withBean(Users.class)
                .run(context -> {
                    assertThat(context).hasNotFailed().doesNotHaveBean(SpringCacheManager.class);
                    context.getBean(Users.class).find(7);
                    assertThat(context.getBean(CacheManager.class)
                                    .getCache("user")
                                    .get(7L))
                            .isNotNull();
                });
        assertThat(output)
                .containsOnlyOnce("the application has the cache manager [maps]")
                .contains("easy-cache.spring-cache.primary");
    }

    @Configuration(proxyBeanMethods = false)
    static class Configurer implements CachingConfigurer {

        @Override
        public CacheManager cacheManager() {
            return new ConcurrentMapCacheManager();
        }
    }

    @Test
    void reportsAManagerThatIsNoBean(CapturedOutput output) {
        enabled.withUserConfiguration(Configurer.class).withBean(Users.class).run(context -> assertThat(context)
                .hasNotFailed());
        assertThat(output)
                .containsOnlyOnce("a CachingConfigurer returns the cache manager ["
                        + ConcurrentMapCacheManager.class.getName() + "]")
                .doesNotContain("SpringCacheStartTests.Users.find(long) ->");
    }

    @Test
    void doesNotCheckTheMethodsOfAManagerThatIsNoBean() {
        enabled.withUserConfiguration(Configurer.class)
                .withBean(UnknownType.class)
                .withBean(UpdatesNothing.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context.getBean(UnknownType.class).find(1)).isEqualTo(1L);
                });
    }

    /** As {@code @EnableCaching(mode = ASPECTJ)} defines it. */
    @Test
    void reportsTheAspectAndDeclaresItsCaches(CapturedOutput output) {
        runner.withPropertyValues("easy-cache.spring-cache.enabled=true")
                .withBean(CacheManagementConfigUtils.CACHE_ASPECT_BEAN_NAME, Object.class, Object::new)
                .withBean(Users.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    Cache users = context.getBean(CacheManager.class).getCache("user");
                    assertThat(users.<User>get(1L, () -> new User(1, "Ada"))).isEqualTo(new User(1, "Ada"));
                });
        assertThat(output).containsOnlyOnce("mode = ASPECTJ").doesNotContain("Put @EnableCaching");
    }

    @Configuration(proxyBeanMethods = false)
    static class Composing implements CachingConfigurer {

        private final ObjectProvider<SpringCacheManager> own;

        Composing(ObjectProvider<SpringCacheManager> own) {
            this.own = own;
        }

        @Override
        public CacheManager cacheManager() {
            return new CompositeCacheManager(own.getObject());
        }
    }

    @Test
    void doesNotReportAManagerThatContainsTheOwnOne(CapturedOutput output) {
        enabled.withUserConfiguration(Composing.class).withBean(Users.class).run(context -> {
            assertThat(context).hasNotFailed();
            context.getBean(Users.class).find(1);
        });
        assertThat(output)
                .doesNotContain("a CachingConfigurer returns the cache manager")
                .contains("SpringCacheStartTests.Users.find(long) ->");
    }

    @Configuration(proxyBeanMethods = false)
    static class Resolving implements CachingConfigurer {

        @Override
        public CacheResolver cacheResolver() {
            return new SimpleCacheResolver();
        }
    }

    @Test
    void startsWithAResolverThatHasNoManager() {
        enabled.withUserConfiguration(Resolving.class).withBean(Users.class).run(context -> assertThat(context)
                .hasNotFailed());
    }

    /** As {@code <cache:advice>} defines it. */
    @Test
    void leavesAnotherInterceptorAlone() {
        CacheOperationSource source = new NameMatchCacheOperationSource();
        CacheInterceptor other = new CacheInterceptor();
        other.setCacheOperationSource(source);
        enabled.withBean("advice", CacheInterceptor.class, () -> other)
                .withBean(Users.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context.getBean(Users.class).find(1)).isEqualTo(new User(1, "Ada"));
                    assertThat(other.getCacheOperationSource()).isSameAs(source);
                });
    }

    static class Resolved {

        final AtomicInteger updates = new AtomicInteger();

        @Cacheable("serial")
        public User find(long id) {
            return new User(id, "Ada");
        }

        @CachePut(cacheResolver = "serialCache", key = "#result.id")
        public User update(String name) {
            updates.incrementAndGet();
            return new User(1, name);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class SerialResolver {

        @Bean
        CacheResolver serialCache(ObjectProvider<SpringCacheManager> manager) {
            return context -> List.of(manager.getObject().getCache("serial"));
        }
    }

    @Test
    void refusesAKeyOverTheResultForASerialCacheOfAResolver() {
        enabled.withUserConfiguration(SerialResolver.class)
                .withBean(Resolved.class)
                .run(context -> {
                    Resolved bean = context.getBean(Resolved.class);
                    assertThatThrownBy(() -> bean.update("Ada"))
                            .isInstanceOf(InvalidCacheCallException.class)
                            .hasMessageContaining("cannot wait for its turn");
                    assertThat(((Resolved) AopTestUtils.getTargetObject(bean)).updates)
                            .hasValue(0);
                });
    }

    @Test
    void isPreferredIfPrimary() {
        enabled.withPropertyValues("easy-cache.spring-cache.primary=true")
                .withBean("maps", CacheManager.class, ConcurrentMapCacheManager::new)
                .withBean(Users.class)
                .withBean(Elsewhere.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context.getBean(CacheManager.class)).isInstanceOf(SpringCacheManager.class);
                    CacheManager maps = context.getBean("maps", CacheManager.class);
                    context.getBean(Users.class).find(7);
                    assertThat(maps.getCacheNames()).doesNotContain("user");
                    assertThat(context.getBean(Elsewhere.class).find(7)).isEqualTo(7L);
                    assertThat(maps.getCache("elsewhere").get(7L)).isNotNull();
                });
    }

    static class Elsewhere {

        /** No value for easy-cache, but for another manager. */
        @Cacheable(cacheNames = "elsewhere", cacheManager = "maps")
        public Object find(long id) {
            return id;
        }
    }

    @Test
    void reportsThatCachingIsNotEnabled(CapturedOutput output) {
        runner.withPropertyValues("easy-cache.spring-cache.enabled=true")
                .withBean(Users.class)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output).containsOnlyOnce("Put @EnableCaching on a @Configuration class");
    }

    @Test
    void runsMethodsUncachedIfTheCacheIsOff() {
        enabled.withPropertyValues("easy-cache.enabled=false")
                .withBean(Users.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context.getBean(CacheManager.class)).isInstanceOf(NoOpCacheManager.class);
                    Users users = context.getBean(Users.class);
                    users.find(1);
                    users.find(1);
                    assertThat(((Users) AopTestUtils.getTargetObject(users)).loads)
                            .hasValue(2);
                });
    }

    @Test
    void usesTheCacheOfTheApplication() {
        enabled.withBean(Users.class).run(context -> assertThat(
                        context.getBean(CacheManager.class).getCache("user").getNativeCache())
                .isSameAs(context.getBean(EasyCache.class)));
    }
}
