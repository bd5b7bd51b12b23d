package io.easykit.cache.autoconfigure;

import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.test.MistakesContract;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.support.GenericApplicationContext;

/** Checks each row of the documented table of mistakes against the report of a start. */
class MistakesTests extends MistakesContract {

    private static final Map<String, Class<?>> BEANS = Map.ofEntries(
            Map.entry("a key names an unknown parameter", KeyDeclarationTests.MisspeltName.class),
            Map.entry("a key without a hash", KeyDeclarationTests.ForgottenHash.class),
            Map.entry("a key over the result of a read", KeyDeclarationTests.ResultTooEarly.class),
            Map.entry("a parameter with the name of the result", KeyDeclarationTests.ResultAsParameter.class),
            Map.entry("a name that is the position of another parameter", KeyDeclarationTests.PositionAsName.class),
            Map.entry("a key with a placeholder without a value", KeyDeclarationTests.KeyOfADeployment.class),
            Map.entry("an update by another type than the read", KeyDeclarationTests.DecimalAndText.class),
            Map.entry("a key that is no expression", KeyDeclarationTests.Malformed.class),
            Map.entry("a key names an unknown bean", KeyDeclarationTests.UnknownBean.class),
            Map.entry("no key", KeyDeclarationTests.NoKey.class),
            Map.entry("an update without keys", ClearingDeclarationTests.NeitherKeysNorAll.class),
            Map.entry("an update of all entries as a batch", ClearingDeclarationTests.BatchAndAll.class),
            Map.entry("an update of all entries with keys", ClearingDeclarationTests.KeysAndAll.class),
            Map.entry("an array as key", KeyDeclarationTests.ArrayKey.class),
            Map.entry("a set as key", KeyDeclarationTests.SetKey.class),
            Map.entry("a final method", MethodDeclarationTests.FinalMethod.class),
            Map.entry("a static method", MethodDeclarationTests.StaticMethod.class),
            Map.entry("an inherited method that no proxy overrides", MethodDeclarationTests.InheritedRead.class),
            Map.entry("a final class", MethodDeclarationTests.FinalClass.class),
            Map.entry("Spring's annotation besides", CacheDeclarationTests.SpringsToo.class),
            Map.entry("Spring's annotation on the class", CacheDeclarationTests.SpringsOnTheClass.class),
            Map.entry("a read that is an update", CacheDeclarationTests.ReadAndUpdate.class),
            Map.entry("two reads on one method", CacheDeclarationTests.TwoReads.class),
            Map.entry(
                    "an interface that the superclass does not implement",
                    HiddenAnnotationsTests.InheritedUpdate.class),
            Map.entry("an update that replaces an inherited one", HiddenAnnotationsTests.ReplacedUpdate.class),
            Map.entry("an unknown cluster", CacheDeclarationTests.UnknownCluster.class),
            Map.entry("a method that returns nothing", TypeDeclarationTests.VoidType.class),
            Map.entry("a stream as value", TypeDeclarationTests.StreamType.class),
            Map.entry("many values that arrive later", TypeDeclarationTests.ManyValues.class),
            Map.entry("a future of another class", TypeDeclarationTests.SelfTypedFuture.class),
            Map.entry("an update with many results", TypeDeclarationTests.ManyUpdates.class),
            Map.entry("a list of futures as value", FuturesList.class),
            Map.entry("an interface as value", InterfaceValue.class),
            Map.entry("a batch without elements", BatchDeclarationTests.BatchOfOne.class),
            Map.entry("a batch over an expression", BatchDeclarationTests.BatchOfExpression.class),
            Map.entry("a batch that returns a set", BatchDeclarationTests.BatchWithoutOrder.class),
            Map.entry("a batch with unless", BatchDeclarationTests.BatchUnless.class),
            Map.entry("a batch update without elements", BatchDeclarationTests.BatchUpdateOfOne.class),
            Map.entry("a key that assigns", Assigns.class),
            Map.entry("a key over an unknown class", UnknownClass.class),
            Map.entry("a condition that is a number", NumberCondition.class),
            Map.entry("a condition over an unknown property", UnknownProperty.class),
            Map.entry("a near level for a strong cache", CacheDeclarationTests.NearAndStrong.class),
            Map.entry("expired values of a strong cache", CacheDeclarationTests.KeptAndStrong.class),
            Map.entry("a soft timeout without expired values", CacheDeclarationTests.SoftAlone.class),
            Map.entry("a duration without a unit", CacheDeclarationTests.NoUnit.class),
            Map.entry("a TTL over an unknown property", ValueTtlDeclarationTests.UnknownProperty.class),
            Map.entry("a TTL over a parameter", ValueTtlDeclarationTests.OverParameter.class),
            Map.entry("a TTL that is an end", ValueTtlDeclarationTests.NoDuration.class),
            Map.entry("a key of a serial cache over the result", SerialByResult.class),
            Map.entry("an update of a prefix that nobody caches", UpdatesNothing.class));

    MistakesTests() {
        super(
                "easy-cache",
                new ApplicationContextRunner()
                        .withConfiguration(AutoConfigurations.of(
                                AopAutoConfiguration.class,
                                SslAutoConfiguration.class,
                                DataRedisAutoConfiguration.class,
                                EasyCacheAutoConfiguration.class))
                        .withPropertyValues("spring.data.redis.port=1", "easy-cache.caches.serial.serial=true"));
    }

    record User(long id, String name) {}

    static class FuturesList {
        @Cacheable(prefix = "futures", keys = "#id")
        public List<CompletableFuture<User>> find(long id) {
            return List.of();
        }
    }

    static class InterfaceValue {
        @Cacheable(prefix = "interface", keys = "#id")
        public Runnable find(long id) {
            return () -> {};
        }
    }

    static class Assigns {
        @Cacheable(prefix = "assigns", keys = "#id = 5")
        public User find(long id) {
            return new User(id, "");
        }
    }

    static class UnknownClass {
        @Cacheable(prefix = "class", keys = "T(Keys).of(#id)")
        public User find(long id) {
            return new User(id, "");
        }
    }

    static class NumberCondition {
        @Cacheable(prefix = "number", keys = "#id", condition = "#id")
        public User find(long id) {
            return new User(id, "");
        }
    }

    static class UnknownProperty {
        @Cacheable(prefix = "property", keys = "#id", unless = "#result.nam == null")
        public User find(long id) {
            return new User(id, "");
        }
    }

    static class SerialByResult {
        @Cacheable(prefix = "serial", keys = "#id")
        public User find(long id) {
            return new User(id, "");
        }

        @UpdateCache(prefix = "serial", keys = "#result.id")
        public User create(String name) {
            return new User(1, name);
        }
    }

    static class UpdatesNothing {
        @UpdateCache(prefix = "nobody", keys = "#id")
        public void update(long id) {}
    }

    @Override
    protected void register(GenericApplicationContext context, String declaration) {
        context.registerBean(declaration, Objects.requireNonNull(BEANS.get(declaration), declaration));
    }
}
