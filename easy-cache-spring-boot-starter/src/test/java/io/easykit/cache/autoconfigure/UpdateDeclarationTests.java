package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CacheUnavailableException;
import io.easykit.cache.Consistency;
import io.easykit.cache.EasyCache;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.cache.aop.CachedMethods;
import io.easykit.cache.aop.InvalidCacheDeclarationException;
import io.easykit.test.StartFailure;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;

/** An update that would never invalidate anything fails the start, regardless of the order and kind of the beans. */
@ExtendWith(OutputCaptureExtension.class)
class UpdateDeclarationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    AopAutoConfiguration.class, DataRedisAutoConfiguration.class, EasyCacheAutoConfiguration.class))
            .withPropertyValues("spring.data.redis.port=1");

    interface Users {
        String find(long id);
    }

    static class CachedUsers implements Users {
        @Override
        @Cacheable(prefix = "user", keys = "#id")
        public String find(long id) {
            return "Ada";
        }
    }

    static class UserUpdates {
        @UpdateCache(prefix = "user", keys = "#id")
        public void update(long id) {}
    }

    static class MisspeltUpdates {
        @UpdateCache(prefix = "user", keys = "#id")
        @UpdateCache(prefix = "usr", keys = "#id")
        public void update(long id) {}
    }

    static class ListedParts {
        @UpdateCache(prefix = "user", keys = "#id")
        public void update(long id) {}

        @UpdateCache(
                prefix = "user",
                keys = {"#tenant", "#id"})
        public void update(String tenant, long id) {}
    }

    static class TwoPartUsers {
        @Cacheable(
                prefix = "user",
                keys = {"#tenant", "#id"})
        public String find(String tenant, long id) {
            return "Ada";
        }
    }

    // Prefixes

    @Test
    void refusesAPrefixThatNobodyCaches() {
        refuses(
                runner.withBean(CachedUsers.class).withBean(MisspeltUpdates.class),
                "@UpdateCache " + MisspeltUpdates.class.getName() + ".update(long)",
                "no @Cacheable has the prefix 'usr', so nothing would be invalidated; known are [user]",
                "Correct the prefix. If another application caches it, add it to easy-cache.external-prefixes");
    }

    @Test
    void refusesItInAnApplicationThatCachesNothing() {
        refuses(runner.withBean(UserUpdates.class), "no @Cacheable has the prefix 'user'", "known are []");
    }

    @Test
    void findsTheCacheInAnyOrderOfBeans() {
        runner.withBean(UserUpdates.class).withBean(CachedUsers.class).run(context -> assertThat(context)
                .hasNotFailed());
        runner.withBean(CachedUsers.class).withBean(UserUpdates.class).run(context -> assertThat(context)
                .hasNotFailed());
    }

    @Test
    void findsTheCacheOfALazyBeanWithoutCreatingIt() {
        runner.withBean(UserUpdates.class)
                .withBean(
                        CachedUsers.class,
                        () -> {
                            throw created();
                        },
                        bean -> bean.setLazyInit(true))
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void refusesAnUpdateOfALazyBeanWithoutCreatingIt() {
        refuses(
                runner.withBean(
                        MisspeltUpdates.class,
                        () -> {
                            throw created();
                        },
                        bean -> bean.setLazyInit(true)),
                "no @Cacheable has the prefix");
    }

    @Configuration(proxyBeanMethods = false)
    static class HiddenUsers {
        @Bean
        @Lazy
        Users users() {
            return new CachedUsers();
        }
    }

    @Test
    void namesBeansWhoseClassCannotBeKnown() {
        refuses(
                runner.withBean(UserUpdates.class).withUserConfiguration(HiddenUsers.class),
                "no @Cacheable has the prefix 'user'",
                "on one of the beans [users]",
                "return type of the @Bean method");
    }

    @Configuration(proxyBeanMethods = false)
    static class HiddenUpdates {
        @Bean
        @Lazy
        Runnable updates() {
            return new Runnable() {
                @Override
                @UpdateCache(prefix = "usr", keys = "'all'")
                public void run() {}
            };
        }
    }

    @Test
    void refusesAnUpdateThatIsFoundLaterWhenItsBeanIsCreated() {
        runner.withBean(CachedUsers.class)
                .withUserConfiguration(HiddenUpdates.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThatThrownBy(() -> context.getBean("updates"))
                            .isInstanceOf(BeanCreationException.class)
                            .hasRootCauseInstanceOf(InvalidCacheDeclarationException.class)
                            .hasStackTraceContaining("no @Cacheable has the prefix 'usr'");
                });
    }

    @Test
    void takesPrototypesLikeOtherBeans() {
        refuses(
                runner.withBean(
                        MisspeltUpdates.class,
                        () -> {
                            throw created();
                        },
                        bean -> bean.setScope(AbstractBeanDefinition.SCOPE_PROTOTYPE)),
                "no @Cacheable has the prefix");
    }

    // Other applications

    @Test
    void letsThePrefixesOfOtherApplicationsBeUpdated(CapturedOutput output) {
        runner.withPropertyValues("easy-cache.external-prefixes=user", "easy-cache.caches.user.consistency=CP")
                .withBean(UserUpdates.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThatThrownBy(() -> context.getBean(UserUpdates.class).update(1))
                            .as("CP, as the settings say")
                            .isInstanceOf(CacheUnavailableException.class);
                });
        assertThat(output)
                .contains("UpdateDeclarationTests.UserUpdates.update(long) updates ec:user::{#id} on default, which"
                        + " another application caches; it is treated as CP with a stale window of 0s")
                .doesNotContain("names 'user'");
    }

    @Test
    void refusesOthersBesideThem() {
        refuses(
                runner.withPropertyValues("easy-cache.external-prefixes=user").withBean(MisspeltUpdates.class),
                "no @Cacheable has the prefix 'usr'");
    }

    @Test
    void warnsOfExternalPrefixesThatNoMethodUpdates(CapturedOutput output) {
        runner.withPropertyValues("easy-cache.external-prefixes=stock")
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output)
                .contains("easy-cache.external-prefixes contains 'stock', but no @UpdateCache has that prefix");
    }

    // Caches that no annotation declares

    private static final CacheSpec<String> STRONG = CacheSpec.of("user", String.class)
            .withOptions(CacheOptions.builder().consistency(Consistency.CP).build());

    @Test
    void takesACacheSpecThatIsABeanWithItsOptions() {
        runner.withBean("users", CacheSpec.class, () -> STRONG, bean -> bean.setLazyInit(true))
                .withBean(UserUpdates.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThatThrownBy(() -> context.getBean(UserUpdates.class).update(1))
                            .isInstanceOf(CacheUnavailableException.class);
                });
    }

    @Test
    void refusesACacheableThatDiffersFromTheCacheSpecOfItsPrefix() {
        refuses(
                runner.withBean("users", CacheSpec.class, () -> STRONG).withBean(CachedUsers.class),
                "@Cacheable " + CachedUsers.class.getName() + ".find(long)",
                "declared with another consistency or stale window by the bean 'users'",
                "Use the same in both");
    }

    @Test
    void refusesACacheThatIsSerialInOneDeclarationOnly() {
        refuses(
                runner.withPropertyValues("easy-cache.caches.user.serial=true")
                        .withBean("users", CacheSpec.class, () -> CacheSpec.of("user", String.class))
                        .withBean(CachedUsers.class),
                "the cache 'user' is serial here, but not by the bean 'users'",
                "Set it for both: easy-cache.caches.user.serial for methods, CacheOptions.serial for a CacheSpec.");
    }

    @Test
    void warnsOfTwoCacheSpecsThatDiffer(CapturedOutput output) {
        runner.withBean("users", CacheSpec.class, () -> STRONG)
                .withBean("others", CacheSpec.class, () -> CacheSpec.of("user", Long.class))
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output)
                .containsOnlyOnce("'user' is declared by the bean 'users' and differently by the bean 'others'");
    }

    @Test
    void warnsOfSettingsForACacheSpec(CapturedOutput output) {
        runner.withPropertyValues("easy-cache.caches.user.ttl=1h", "easy-cache.caches.token.ttl=1h")
                .withBean("users", CacheSpec.class, () -> CacheSpec.of("user", String.class))
                .withBean("tokens", CacheSpec.class, () -> CacheSpec.of("token", String.class))
                .withBean(CachedUsers.class)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output)
                .containsOnlyOnce(
                        "The settings of 'token' under easy-cache.caches have no effect, because its CacheSpec")
                .as("the method takes them")
                .doesNotContain("The settings of 'user'");
    }

    // Parts

    @Test
    void refusesAnotherNumberOfParts() {
        refuses(
                runner.withBean(TwoPartUsers.class).withBean(UserUpdates.class),
                UserUpdates.class.getName() + ".update(long)",
                "the key has 1 part [#id], but the keys of 'user' have 2 parts [#tenant, #id] by @Cacheable",
                "Name the same parts in the same order");
    }

    @Test
    void checksEachUpdateOfAPrefix() {
        refuses(
                runner.withBean(CachedUsers.class).withBean(ListedParts.class),
                "update(String, long)",
                "the key has 2 parts [#tenant, #id], but the keys of 'user' have 1 part [#id]");
    }

    @Test
    void refusesTwoCachesOfOnePrefixWithDifferentParts() {
        refuses(
                runner.withBean(CachedUsers.class).withBean(TwoPartUsers.class),
                TwoPartUsers.class.getName() + ".find(String, long)",
                "the key has 2 parts [#tenant, #id], but the cache 'user' has keys of 1 part [#id]",
                "or another prefix for one of them");
    }

    static class SerialUsers {
        @Cacheable(prefix = "user", keys = "#id")
        public String find(long id) {
            return "Ada";
        }

        @UpdateCache(prefix = "user", keys = "#resultId", condition = "#results > 0")
        public void update(long resultId, int results) {}
    }

    @Test
    void takesParametersWhoseNamesBeginLikeTheResult(CapturedOutput output) {
        runner.withPropertyValues("easy-cache.caches.user.serial=true")
                .withBean(SerialUsers.class)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output).contains("SerialUsers.find(long) ->").doesNotContain("keys over #result");
    }

    // Contexts with a parent

    static class StrongUsers {
        @Cacheable(prefix = "user", keys = "#id", consistency = Consistency.CP)
        public String find(long id) {
            return "Ada";
        }
    }

    @Test
    void knowsTheCachesOfAParentContext() {
        runner.withBean(StrongUsers.class).run(parent -> runner.withParent(parent)
                .withAllowBeanDefinitionOverriding(true)
                .withBean(UserUpdates.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context.getBean(EasyCache.class)).isSameAs(parent.getBean(EasyCache.class));
                    assertThatThrownBy(() -> context.getBean(UserUpdates.class).update(1))
                            .as("CP, as the parent says")
                            .isInstanceOf(CacheUnavailableException.class);
                }));
    }

    static class Prices {

        final String region = "eu";

        @Cacheable(prefix = "price", keys = "#id")
        public String price(long id) {
            return region;
        }

        @Cacheable(
                prefix = "regional",
                keys = {"#root.target.region", "#id"})
        public String regional(long id) {
            return region;
        }

        @Cacheable(prefix = "{class}.named", keys = "#id")
        public String named(long id) {
            return region;
        }
    }

    static class UsPrices extends Prices {}

    @Test
    void warnsOfBeansThatShareTheEntriesOfOneAnnotation(CapturedOutput output) {
        runner.withBean("eu", Prices.class).withBean(CachedUsers.class).run(context -> assertThat(output)
                .doesNotContain("share the entries"));
        runner.withBean("eu", Prices.class).withBean("us", UsPrices.class).run(context -> assertThat(output)
                .containsOnlyOnce("share the entries")
                .contains("the beans [eu, us] share the entries of 'price', because all of them have the @Cacheable of"
                        + " Prices.price"));
        runner.withBean("one", Prices.class).withBean("two", Prices.class).run(context -> assertThat(output)
                .contains("the beans [one, two] share the entries of 'price'")
                .contains("the beans [one, two] share the entries of 'prices.named'")
                .doesNotContain("of 'regional'"));
    }

    @Configuration(proxyBeanMethods = false)
    static class ScopedPrices {

        @Bean
        @Scope(proxyMode = ScopedProxyMode.TARGET_CLASS)
        Prices prices() {
            return new Prices();
        }
    }

    @Test
    void doesNotWarnOfTheTargetOfAScopedProxy(CapturedOutput output) {
        runner.withUserConfiguration(ScopedPrices.class).run(context -> {
            assertThat(context.getBeansOfType(Prices.class)).hasSize(2);
            assertThat(output).contains("Prices.price(long) ->").doesNotContain("share the entries");
        });
    }

    interface PriceClient {
        @Cacheable(prefix = "price", keys = "#id")
        String price(long id);
    }

    private static PriceClient client() {
        return ProxyFactory.getProxy(PriceClient.class, (MethodInterceptor) call -> "19.90");
    }

    /** As repositories and other clients are made. */
    static class PriceClients implements FactoryBean<PriceClient> {

        @Override
        public PriceClient getObject() {
            return client();
        }

        @Override
        public Class<?> getObjectType() {
            return PriceClient.class;
        }
    }

    @Test
    void warnsOfClientsOfOneInterface(CapturedOutput output) {
        runner.withBean("eu", PriceClient.class, UpdateDeclarationTests::client)
                .run(context -> assertThat(output).doesNotContain("share the entries"));
        runner.withBean("eu", PriceClient.class, UpdateDeclarationTests::client)
                .withBean("us", PriceClient.class, UpdateDeclarationTests::client)
                .run(context -> assertThat(output)
                        .containsOnlyOnce("share the entries")
                        .contains("the beans [eu, us] share the entries of 'price', because all of them have the"
                                + " @Cacheable of PriceClient.price")
                        .contains("give each an interface that extends it, and use {class}"));
    }

    /** As the fallback of a client, or a fragment of a repository. */
    static class Fallback implements PriceClient {
        @Override
        public String price(long id) {
            return "unknown";
        }
    }

    static class NewClients extends PriceClients {
        @Override
        public boolean isSingleton() {
            return false;
        }
    }

    @Test
    void doesNotWarnOfAClientWithAFallback(CapturedOutput output) {
        runner.withBean("eu", PriceClients.class)
                .withBean("fallback", Fallback.class)
                .withBean("many", NewClients.class)
                .run(context -> assertThat(output).doesNotContain("share the entries"));
    }

    @Test
    void warnsOfProductsOfFactoriesAndLazyBeans(CapturedOutput output) {
        runner.withBean("eu", PriceClients.class)
                .withBean("us", PriceClients.class)
                .withBean("asia", PriceClients.class, PriceClients::new, bean -> bean.setLazyInit(true))
                .run(context -> assertThat(output).contains("the beans [asia, eu, us] share the entries of 'price'"));
        runner.withBean("one", Prices.class)
                .withBean(
                        "two",
                        Prices.class,
                        () -> {
                            throw created();
                        },
                        bean -> bean.setLazyInit(true))
                .withBean(
                        "three",
                        Prices.class,
                        () -> {
                            throw created();
                        },
                        bean -> bean.setScope(AbstractBeanDefinition.SCOPE_PROTOTYPE))
                .run(context -> assertThat(output)
                        .contains("the beans [one, two] share the entries of 'price'")
                        .contains("the beans [one, two] share the entries of 'prices.named'"));
    }

    interface NamedClient {
        @Cacheable(prefix = "{class}.price", keys = "#id")
        String price(long id);
    }

    interface EuClient extends NamedClient {}

    interface UsClient extends NamedClient {}

    @Test
    void doesNotWarnOfClientsThatHaveTheirOwnInterfaces(CapturedOutput output) {
        runner.withBean(EuClient.class, () -> ProxyFactory.getProxy(EuClient.class, (MethodInterceptor) call -> "eu"))
                .withBean(UsClient.class, () -> ProxyFactory.getProxy(UsClient.class, (MethodInterceptor) call -> "us"))
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context.getBean(CachedMethods.class).declared())
                            .extracting(cache -> cache.spec().prefix())
                            .containsExactlyInAnyOrder("euClient.price", "usClient.price");
                });
        assertThat(output).doesNotContain("share the entries");
    }

    /** Arguments are the same for all beans. */
    static class ByArguments {
        @Cacheable(prefix = "arguments", keys = "#root.args[0]")
        public String find(Long id) {
            return "Ada";
        }
    }

    @Test
    void warnsOfBeansWhoseKeysAreOverTheArguments(CapturedOutput output) {
        runner.withBean("one", ByArguments.class)
                .withBean("two", ByArguments.class)
                .run(context -> assertThat(output).contains("the beans [one, two] share the entries of 'arguments'"));
    }

    private static AssertionError created() {
        return new AssertionError("created");
    }

    private static void refuses(ApplicationContextRunner runner, String... parts) {
        runner.run(context -> {
            assertThat(context).hasFailed();
            FailureAnalysis analysis = StartFailure.analysis(context.getStartupFailure());
            assertThat(analysis).isNotNull();
            assertThat(analysis.getDescription() + " | " + analysis.getAction()).contains(parts);
        });
    }
}
