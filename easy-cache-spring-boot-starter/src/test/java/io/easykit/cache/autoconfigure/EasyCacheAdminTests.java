package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.EasyCache;
import io.easykit.cache.admin.CacheDeclaration;
import io.easykit.cache.admin.CacheDeclaration.Setting;
import io.easykit.cache.admin.CacheInfo;
import io.easykit.cache.admin.EasyCacheAdmin;
import io.easykit.cache.admin.EntryExplanation;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.redis.RedisEntryStore;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The bean for operators, without a Redis. */
class EasyCacheAdminTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    AopAutoConfiguration.class,
                    DataRedisAutoConfiguration.class,
                    EasyCacheAutoConfiguration.class,
                    DisabledEasyCacheAutoConfiguration.class,
                    EasyCacheAdminAutoConfiguration.class))
            .withPropertyValues("spring.data.redis.port=1")
            .withBean(Prices.class)
            .withBean("stocks", CacheSpec.class, () -> CacheSpec.of("stock", String.class));

    record Price(long cents) {}

    static class Prices {

        @Cacheable(
                prefix = "price",
                keys = {"#id", "#code"},
                ttl = "5m",
                staleWindow = "2s")
        public Price find(long id, String code) {
            return new Price(id);
        }

        @Cacheable(
                prefix = "price",
                keys = {"#id", "'EUR'"},
                staleWindow = "2s")
        public Price euros(int id) {
            return new Price(id);
        }

        @Cacheable(prefix = "rate", keys = "#id", consistency = Consistency.CP)
        public Price rate(UUID id) {
            return new Price(1);
        }

        @UpdateCache(prefix = "rate", keys = "#id")
        public void change(UUID id) {}
    }

    private static EasyCacheAdmin admin(ApplicationContext context) {
        return context.getBean(EasyCacheAdmin.class);
    }

    private static CacheInfo cache(ApplicationContext context, String prefix) {
        return admin(context).caches().stream()
                .filter(cache -> cache.prefix().equals(prefix))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void showsWhereEachCacheIsDeclared() {
        runner.run(context -> {
            assertThat(admin(context).caches()).extracting(CacheInfo::prefix).containsExactly("price", "rate", "stock");
            CacheInfo price = cache(context, "price");
            assertThat(price.consistency()).isEqualTo(Consistency.AP);
            assertThat(price.worstStaleness()).isEqualTo(Duration.ofSeconds(2));
            assertThat(price.declarations())
                    .extracting(CacheDeclaration::source)
                    .containsExactly(
                            "@Cacheable " + Prices.class.getName() + ".euros(int)",
                            "@Cacheable " + Prices.class.getName() + ".find(long, String)");
            assertThat(price.declarations().get(1).keyParts())
                    .containsExactly(
                            new CacheDeclaration.KeyPart("#id", long.class),
                            new CacheDeclaration.KeyPart("#code", String.class));
            assertThat(price.declarations().get(0).staleness()).contains("worst staleness 2s");
            assertThat(cache(context, "stock").declarations())
                    .singleElement()
                    .extracting(CacheDeclaration::source)
                    .isEqualTo("the bean 'stocks'");
        });
    }

    @Test
    void saysWhereEachSettingComesFrom() {
        runner.withPropertyValues(
                        "easy-cache.caches.price.load-lease=3s",
                        "easy-cache.defaults.update-lease=40s",
                        "easy-cache.defaults.load-lease=4s",
                        "easy-cache.local.ttl=7s")
                .run(context -> {
                    List<Setting> find =
                            cache(context, "price").declarations().get(1).settings();
                    assertThat(find)
                            .contains(
                                    new Setting("ttl", "5m", "@Cacheable ttl"),
                                    new Setting("stale-window", "2s", "@Cacheable staleWindow"),
                                    new Setting("load-lease", "3s", "easy-cache.caches.price.load-lease"),
                                    new Setting("update-lease", "40s", "easy-cache.defaults.update-lease"),
                                    new Setting("null-ttl", "1m", "default"),
                                    new Setting("local.ttl", "7s", "easy-cache.local.ttl"),
                                    new Setting("local.maximum-size", "10000", "default"));
                    assertThat(cache(context, "price").declarations().get(0).settings())
                            .contains(new Setting("ttl", "10m", "default"));
                    assertThat(cache(context, "rate").declarations().get(0).settings())
                            .contains(
                                    new Setting("consistency", "cp", "@Cacheable consistency"),
                                    new Setting("stale-window", "0s", "default (1500ms), zero under cp"))
                            .extracting(Setting::name)
                            .doesNotContain("local.ttl");
                    assertThat(cache(context, "stock").declarations().get(0).settings())
                            .contains(new Setting("ttl", "10m", "CacheSpec"));
                });
    }

    @Test
    void readsTypedKeysAsTheMethodDoes() {
        runner.run(context -> {
            CacheSpec<?> price = cache(context, "price").declarations().get(0).spec();
            assertThat(admin(context).key(null, "price", List.of("42", "42"))).isEqualTo(price.key(42L, "42"));
        });
    }

    @Test
    void explainsThatTheCacheIsSwitchedOff() {
        runner.withPropertyValues("easy-cache.enabled=false").run(context -> {
            EntryExplanation told =
                    admin(context).explain(CacheSpec.of("price", Price.class).key(1));
            assertThat(told.state()).isEqualTo(EntryExplanation.State.UNAVAILABLE);
            assertThat(told.sentences()).containsExactly("The cache is switched off: each read calls its loader.");
        });
    }

    @Test
    void worksWithTheApplicationsOwnEngine() {
        runner.withBean(
                        EasyCacheEngine.class,
                        () -> EasyCacheEngine.builder(new JacksonValueCodec())
                                .store(
                                        "default",
                                        new RedisEntryStore(new LettuceConnectionFactory(), Duration.ofMillis(100)))
                                .build(),
                        definition -> ((AbstractBeanDefinition) definition).setDestroyMethodName("stop"))
                .run(context ->
                        assertThat(context).hasSingleBean(EasyCacheAdmin.class).hasSingleBean(EasyCache.class));
    }
}
