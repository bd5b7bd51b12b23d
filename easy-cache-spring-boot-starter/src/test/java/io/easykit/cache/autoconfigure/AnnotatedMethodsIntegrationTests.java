package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.InvalidCacheKeyException;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.io.IOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.MDC;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.annotation.AliasFor;
import org.springframework.core.task.TaskDecorator;
import org.springframework.test.util.AopTestUtils;

/** Places of annotations, key expressions, and restored values. */
class AnnotatedMethodsIntegrationTests {

    record User(long id, String name) {}

    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @Cacheable(prefix = "short", keys = "#id", ttl = "20s")
    @interface ShortLived {

        @AliasFor(annotation = Cacheable.class, attribute = "unless")
        String butNot() default "";
    }

    interface Finder<K> {

        @Cacheable(prefix = "found", keys = "#key")
        User find(K key);
    }

    static class LongFinder implements Finder<Long> {

        @Override
        public User find(Long id) {
            return new User(id, "found");
        }
    }

    abstract static class Base<T> {

        @Cacheable(prefix = "${names.prefix:list}", keys = "#id")
        public List<T> all(long id) {
            return List.of(one(id));
        }

        abstract T one(long id);
    }

    static class Users extends Base<User> {

        final AtomicInteger calls = new AtomicInteger();
        final List<String> threads = new CopyOnWriteArrayList<>();

        @Override
        User one(long id) {
            calls.incrementAndGet();
            return new User(id, "listed");
        }

        @Cacheable(
                prefix = "parts",
                keys = {"#tenant", "#user.name", "#user.id()", "'x'"})
        public int parts(String tenant, User user) {
            return calls.incrementAndGet();
        }

        @Cacheable(
                prefix = "position",
                keys = {"#p0", "#a1"})
        public String byPosition(String first, int second) {
            return first + calls.incrementAndGet();
        }

        @Cacheable(
                prefix = "spel",
                keys = {"#root.args[0] + 1", "#root.methodName", "@spelling.lower(#name)", "#name?.length()"})
        public String bySpel(int number, String name) {
            return name + calls.incrementAndGet();
        }

        @Cacheable(
                prefix = "some",
                keys = "#id",
                condition = "#id > 0",
                unless = "#result == null || #result.name == 'no'")
        public Optional<User> conditional(long id, String name) {
            calls.incrementAndGet();
            return name == null ? Optional.empty() : Optional.of(new User(id, name));
        }

        @ShortLived(butNot = "#result.length() > 3")
        public String composed(long id, String value) {
            calls.incrementAndGet();
            return value;
        }

        @Cacheable(prefix = "failing", keys = "#id")
        public String failing(long id, Exception failure) throws Exception {
            calls.incrementAndGet();
            throw failure;
        }

        @Cacheable(prefix = "refreshed", keys = "#id", staleWindow = "1m")
        public String refreshed(long id) {
            threads.add(Thread.currentThread().getName() + " " + MDC.get("tenant"));
            return "v" + calls.incrementAndGet();
        }

        @UpdateCache(prefix = "refreshed", keys = "#id", condition = "#really")
        public void update(long id, boolean really) {}
    }

    static class Spelling {
        public String lower(String text) {
            return text.toLowerCase(java.util.Locale.ROOT);
        }
    }

    /** An aspect inside the cache: it must find its invocation on a refresh thread, too. */
    @Aspect
    static class Inner {

        final AtomicInteger seen = new AtomicInteger();

        @Around("execution(* *..Users.refreshed(..))")
        Object around(ProceedingJoinPoint call) throws Throwable {
            seen.incrementAndGet();
            return call.proceed();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        AopAutoConfiguration.class,
        DataRedisAutoConfiguration.class,
        EasyCacheAutoConfiguration.class
    })
    @Import({LongFinder.class, Users.class, Inner.class})
    static class Application {

        @Bean
        Spelling spelling() {
            return new Spelling();
        }

        @Bean
        TaskDecorator mdc() {
            return task -> {
                String tenant = MDC.get("tenant");
                return () -> {
                    MDC.put("tenant", tenant);
                    task.run();
                };
            };
        }
    }

    private static ConfigurableApplicationContext context;

    private final Users users = context.getBean(Users.class);
    private final Users target = AopTestUtils.getTargetObject(users);

    @BeforeAll
    static void start() {
        context = application("easy-cache.command-timeout=10s");
    }

    @AfterAll
    static void stop() {
        context.close();
    }

    @BeforeEach
    void reset() {
        RedisServer.shared().flush();
        target.calls.set(0);
        target.threads.clear();
    }

    private static ConfigurableApplicationContext application(String... properties) {
        RedisServer redis = RedisServer.shared();
        return new SpringApplicationBuilder(Application.class)
                .properties("spring.data.redis.host=" + redis.host(), "spring.data.redis.port=" + redis.port())
                .properties(properties)
                .run();
    }

    @Test
    @SuppressWarnings("unchecked")
    void findsAnAnnotationOnAnInterfaceBehindABridge() {
        Finder<Long> finder = context.getBean(Finder.class);
        assertThat(AopUtils.isCglibProxy(finder)).isTrue();
        assertThat(finder.find(7L)).isEqualTo(new User(7, "found"));
        assertThat(keys()).containsExactly("ec:found::7");
    }

    @Test
    @SuppressWarnings("unchecked")
    void worksBehindInterfaceProxies() {
        try (ConfigurableApplicationContext jdk = application("spring.aop.proxy-target-class=false")) {
            Finder<Long> finder = jdk.getBean(Finder.class);
            assertThat(AopUtils.isJdkDynamicProxy(finder)).isTrue();
            assertThat(finder.find(8L)).isEqualTo(new User(8, "found"));
            assertThat(keys()).containsExactly("ec:found::8");
            assertThat(finder.find(8L)).isEqualTo(new User(8, "found"));
        }
    }

    @Test
    void restoresAnInheritedGenericType() {
        assertThat(users.all(3)).isEqualTo(users.all(3)).containsExactly(new User(3, "listed"));
        assertThat(target.calls).hasValue(1);
        assertThat(keys()).containsExactly("ec:list::3");
    }

    @Test
    void joinsTheParts() {
        assertThat(users.parts("a:b", new User(5, "Ada"))).isEqualTo(1);
        assertThat(users.parts("a:b", new User(5, "Ada"))).isEqualTo(1);
        assertThat(users.parts("a", new User(5, "Ada"))).isEqualTo(2);
        assertThat(keys()).containsExactlyInAnyOrder("ec:parts::a\\:b:Ada:5:x", "ec:parts::a:Ada:5:x");
    }

    @Test
    void takesParametersByPosition() {
        assertThat(users.byPosition("a", 2)).isEqualTo(users.byPosition("a", 2));
        assertThat(keys()).containsExactly("ec:position::a:2");
    }

    @Test
    void leavesTheRestToSpel() {
        assertThat(users.bySpel(1, "ADA")).isEqualTo(users.bySpel(1, "ADA"));
        assertThat(keys()).containsExactly("ec:spel::2:bySpel:ada:3");
    }

    @Test
    void refusesANullPart() {
        assertThatThrownBy(() -> users.parts(null, new User(1, "")))
                .isInstanceOf(InvalidCacheKeyException.class)
                .hasMessageContaining("'parts' is null");
        assertThatThrownBy(() -> users.parts("a", null)).isInstanceOf(InvalidCacheKeyException.class);
        assertThat(target.calls).hasValue(0);
    }

    @ParameterizedTest
    @CsvSource({"0, Ada, 2, 0", "1, no, 2, 0", "1,, 2, 0", "1, Ada, 1, 1"})
    void asksConditionAndUnless(long id, String name, int calls, int keys) {
        Optional<User> expected = Optional.ofNullable(name).map(some -> new User(id, some));
        assertThat(users.conditional(id, name)).isEqualTo(expected);
        assertThat(users.conditional(id, name)).isEqualTo(expected);
        assertThat(target.calls).hasValue(calls);
        assertThat(values()).hasSize(keys);
    }

    @Test
    void takesComposedAnnotations() {
        assertThat(users.composed(1, "abc")).isEqualTo(users.composed(1, "abc"));
        users.composed(2, "abcd");
        users.composed(2, "abcd");
        assertThat(target.calls).hasValue(3);
        assertThat(values()).containsExactly("ec:short::1");
        try (RawRedis redis = RedisServer.shared().connect()) {
            assertThat((Long) redis.command("PTTL", "ec:short::1")).isBetween(1L, 20_000L);
        }
    }

    @Test
    void letsTheMethodsOwnExceptionThrough() {
        IOException failure = new IOException("disk");
        assertThatThrownBy(() -> users.failing(1, failure)).isSameAs(failure);
        assertThatThrownBy(() -> users.failing(1, failure)).isSameAs(failure);
        assertThat(target.calls).hasValue(2);
    }

    @Test
    void refreshesOnAnotherThreadThatHasWhatBelongsToTheCaller() {
        int seenBefore = context.getBean(Inner.class).seen.get();
        MDC.put("tenant", "acme");
        assertThat(users.refreshed(1)).isEqualTo("v1");
        users.update(1, false);
        assertThat(users.refreshed(1)).isEqualTo("v1");
        try (ConfigurableApplicationContext elsewhere = application()) {
            elsewhere.getBean(Users.class).update(1, true);
        }
        assertThat(users.refreshed(1)).isEqualTo("v1");
        await().until(() -> users.refreshed(1), "v2"::equals);
        MDC.remove("tenant");
        assertThat(target.threads).hasSize(2);
        assertThat(target.threads.get(1)).startsWith("easy-cache-refresh-").endsWith(" acme");
        assertThat(context.getBean(Inner.class).seen).hasValue(seenBefore + 2);
    }

    private static List<String> keys() {
        try (RawRedis redis = RedisServer.shared().connect()) {
            return texts(redis.command("KEYS", "*::*"));
        }
    }

    /** Keys with a value, not only a lock. */
    private static List<String> values() {
        try (RawRedis redis = RedisServer.shared().connect()) {
            return keys().stream()
                    .filter(key -> texts(redis.command("HKEYS", key)).stream().anyMatch(field -> field.startsWith("v")))
                    .toList();
        }
    }

    private static List<String> texts(Object reply) {
        return ((List<?>) reply)
                .stream().map(AnnotatedMethodsIntegrationTests::text).toList();
    }

    private static String text(Object reply) {
        return reply instanceof byte[] bytes
                ? new String(bytes, java.nio.charset.StandardCharsets.UTF_8)
                : reply.toString();
    }
}
