package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.boot.InvalidConfigurationException;
import io.easykit.cache.Consistency;
import io.easykit.cache.EasyCache;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.redis.RedisEntryStore;
import io.easykit.cache.store.EntryStore;
import io.easykit.test.StartFailure;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.io.Resource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import reactor.core.publisher.Mono;

/** Declarations that fail the start of an application, with the reported method and remedy. */
@ExtendWith(OutputCaptureExtension.class)
class CacheDeclarationTests {

    record User(long id, String name) {}

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, EasyCacheAutoConfiguration.class))
            .withBean(EasyCache.class, () -> EasyCacheEngine.builder(new JacksonValueCodec())
                    .store("default", nowhere())
                    .store("other", nowhere())
                    .build());

    // Names in expressions

    static class MisspeltName {
        @Cacheable(prefix = "user", keys = "#idd")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesAnUnknownName() {
        refuses(MisspeltName.class, "find(long)", "#idd, which is no parameter", "known are #a0, #id, #p0");
    }

    static class MisspeltNameInside {
        @Cacheable(prefix = "user", keys = "T(String).valueOf(#id + #tenant)")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesAnUnknownNameInsideAnExpression() {
        refuses(MisspeltNameInside.class, "find(long)", "#tenant, which is no parameter", "Correct it");
    }

    static class MisspeltProperty {
        @UpdateCache(prefix = "user", keys = "#user.idd")
        public void update(User user) {}
    }

    @Test
    void refusesAPropertyThatARecordDoesNotHave() {
        refuses(MisspeltProperty.class, "update(User)", "'idd'", "public accessor");
    }

    static class ForgottenHash {
        @Cacheable(prefix = "user", keys = "id")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesAForgottenHash() {
        refuses(ForgottenHash.class, "find(long)", "neither a parameter nor a text", "Write #id.");
    }

    static class ResultTooEarly {
        @Cacheable(prefix = "user", keys = "#result.id")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesTheResultInAKeyThatIsNeededBefore() {
        refuses(ResultTooEarly.class, "find(long)", "#result, which is unknown before the method", "parameters");
    }

    static class Malformed {
        @Cacheable(prefix = "user", keys = "#id +")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesWhatIsNoExpression() {
        refuses(Malformed.class, "find(long)", "is not a SpEL expression", "Write a parameter as #name");
    }

    static class MisspeltCondition {
        @Cacheable(prefix = "user", keys = "#id", condition = "#ids > 3")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesAnUnknownNameInACondition() {
        refuses(MisspeltCondition.class, "find(long)", "in condition names #ids", "Correct it");
    }

    static class UnknownBean {
        @Cacheable(prefix = "user", keys = "@keys.of(#id)")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesAnUnknownBean() {
        refuses(UnknownBean.class, "find(long)", "the bean 'keys', which does not exist", "define the bean");
    }

    @Test
    void refusesNamesOfAClassThatWasCompiledWithoutThem(@TempDir Path classes) throws Exception {
        String source =
                """
                package shop;
                public class Nameless {
                    @io.easykit.cache.annotation.Cacheable(prefix = "user", keys = "#id")
                    public String find(long id) { return ""; }
                }
                """;
        refuses(
                compileWithoutParameterNames("shop.Nameless", source, classes),
                "shop.Nameless.find(long)",
                "compiled without parameter names",
                "Compile with -parameters, or write #p0");
    }

    // Keys

    static class NoKey {
        @Cacheable(
                prefix = "user",
                keys = {})
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesNoKey() {
        refuses(NoKey.class, "find(long)", "all calls would share one entry", "Name at least one part");
    }

    static class EmptyKey {
        @Cacheable(prefix = "user", keys = " ")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesAnEmptyKey() {
        refuses(EmptyKey.class, "find(long)", "a key part is empty", "Name a parameter");
    }

    static class NullKey {
        @Cacheable(prefix = "user", keys = "null")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesAKeyThatIsAlwaysNull() {
        refuses(NullKey.class, "find(long)", "is always null", "Name a parameter");
    }

    static class ArrayKey {
        @Cacheable(prefix = "user", keys = "#ids")
        public User find(long[] ids) {
            return new User(ids[0], "");
        }
    }

    @Test
    void refusesAnArrayAsKey() {
        refuses(ArrayKey.class, "find(long[])", "long[], which has no text", "Use its id");
    }

    static class SetKey {
        @Cacheable(prefix = "user", keys = "#ids")
        public User find(Set<Long> ids) {
            return new User(1, "");
        }
    }

    @Test
    void refusesASetAsKey() {
        refuses(SetKey.class, "find(Set)", "java.util.Set, which has no text", "a list of texts");
    }

    static class MapKey {
        @Cacheable(prefix = "user", keys = "#filter")
        public User find(Map<String, String> filter) {
            return new User(1, "");
        }
    }

    @Test
    void refusesAMapAsKey() {
        refuses(MapKey.class, "find(Map)", "java.util.Map, which has no text", "Use its id");
    }

    static class Filter {}

    static class ObjectTextKey {
        @Cacheable(prefix = "user", keys = "#filter")
        public User find(Filter filter) {
            return new User(1, "");
        }
    }

    @Test
    void refusesAKeyWithTheTextOfObject() {
        refuses(ObjectTextKey.class, "find(Filter)", "Filter, which has no text", "Use its id");
    }

    static class NestedArrayKey {
        @Cacheable(prefix = "user", keys = "#ids")
        public User find(List<Optional<long[]>> ids) {
            return new User(1, "");
        }
    }

    @Test
    void refusesAnArrayInsideAListAsKey() {
        refuses(NestedArrayKey.class, "find(List)", "long[], which has no text", "make it a record");
    }

    static class TextOnly {

        private String text = "";

        @Override
        public String toString() {
            return text;
        }
    }

    static class TextOnlyKey {
        @Cacheable(prefix = "user", keys = "#filter")
        public User find(TextOnly filter) {
            return new User(1, "");
        }
    }

    @Test
    void refusesAKeyOfWhichNothingIsKnownButItsText() {
        refuses(TextOnlyKey.class, "find(TextOnly)", "TextOnly, which has no text", "make it a record");
    }

    static class NumberAndText {
        @Cacheable(
                prefix = "user",
                keys = {"#shop", "#id"})
        public User find(String shop, int id) {
            return new User(id, "");
        }

        @UpdateCache(
                prefix = "user",
                keys = {"#shop", "#id"})
        public void update(String shop, String id) {}
    }

    @Test
    void refusesAnUpdateByATextOfWhatIsReadByANumber() {
        refuses(NumberAndText.class, "'#id' is a", "never name the same entry of 'user'", "Declare both with the same");
    }

    static class TwoNumbers {
        @Cacheable(prefix = "user", keys = "#id")
        public User find(Long id) {
            return new User(id, "");
        }

        @UpdateCache(prefix = "user", keys = "#id")
        public void update(int id) {}

        @UpdateCache(prefix = "user", keys = "#user.id()")
        public void update(User user) {}

        @UpdateCache(prefix = "user", keys = "#id")
        public void updateAny(Object id) {}
    }

    @Test
    void takesNumbersOfDifferentSizesForOneKey() {
        runner.withBean(TwoNumbers.class).run(context -> assertThat(context).hasNotFailed());
    }

    static class BadPrefix {
        @Cacheable(prefix = "user:", keys = "#id")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesAPrefixThatCannotStartAKey() {
        refuses(BadPrefix.class, "find(long)", "The prefix 'user:' cannot start a key", "Correct the annotation");
    }

    // Methods and classes

    static class FinalMethod {
        @Cacheable(prefix = "user", keys = "#id")
        public final User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesAFinalMethod() {
        refuses(FinalMethod.class, "find(long)", "a final method cannot be intercepted", "Remove 'final'");
    }

    static class PrivateMethod {
        @SuppressWarnings("UnusedMethod")
        @Cacheable(prefix = "user", keys = "#id")
        private User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesAPrivateMethod() {
        refuses(PrivateMethod.class, "find(long)", "a private method cannot be intercepted", "public");
    }

    static class StaticMethod {
        @Cacheable(prefix = "user", keys = "#id")
        public static User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesAStaticMethod() {
        refuses(StaticMethod.class, "find(long)", "a static method cannot be intercepted", "public instance method");
    }

    static final class FinalClass {
        @Cacheable(prefix = "user", keys = "#id")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesAFinalClass() {
        refuses(FinalClass.class, "find(long)", "a final class cannot be proxied", "kotlin-spring");
    }

    record RecordBean() {
        @Cacheable(prefix = "user", keys = "#id")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesARecord() {
        refuses(RecordBean.class, "find(long)", "a record cannot be proxied", "a class that is not final");
    }

    static class LazyOne extends MisspeltName {}

    @Test
    void refusesWhatALazyBeanDeclaresWithoutCreatingIt() {
        runner.withBean(
                        LazyOne.class,
                        () -> {
                            throw new AssertionError("created");
                        },
                        definition -> definition.setLazyInit(true))
                .run(context -> assertThat(context.getStartupFailure())
                        .isInstanceOf(InvalidConfigurationException.class)
                        .hasMessageContaining("LazyOne.find(long)"));
    }

    // Annotations together

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

    // Types

    static class VoidType {
        @Cacheable(prefix = "user", keys = "#id")
        public void find(long id) {}
    }

    @Test
    void refusesVoid() {
        refuses(VoidType.class, "find(long)", "returns nothing", "Return a value");
    }

    static class BatchOfOne {
        @Cacheable(prefix = "user", keys = "#id", batch = true)
        public Map<Long, User> find(long id) {
            return Map.of();
        }
    }

    @Test
    void refusesABatchOfWhatHasNoElements() {
        refuses(
                BatchOfOne.class,
                "find(long)",
                "batch = true, but #id is a long",
                "Declare the elements as a Collection");
    }

    static class BatchOfExpression {
        @Cacheable(prefix = "user", keys = "#users.![id]", batch = true)
        public Map<Long, User> find(List<User> users) {
            return Map.of();
        }
    }

    @Test
    void refusesABatchReadOverAnExpression() {
        refuses(BatchOfExpression.class, "find(List)", "is not one parameter with elements", "keys = \"#ids\"");
    }

    static class BatchWithoutOrder {
        @Cacheable(prefix = "user", keys = "#ids", batch = true)
        public Set<User> find(List<Long> ids) {
            return Set.of();
        }
    }

    @Test
    void refusesABatchWhoseValuesBelongToNoElement() {
        refuses(BatchWithoutOrder.class, "find(List)", "no value belongs to an element", "return a Map from element");
    }

    static class BatchOfOtherKeys {
        @Cacheable(prefix = "user", keys = "#ids", batch = true)
        public Map<Integer, User> find(long... ids) {
            return Map.of();
        }
    }

    @Test
    void refusesABatchWhoseMapHasOtherKeys() {
        refuses(
                BatchOfOtherKeys.class,
                "java.lang.Long and the keys of the returned map of java.lang.Integer",
                "same type");
    }

    static class BatchUnless {
        @Cacheable(prefix = "user", keys = "#ids", batch = true, unless = "#result == null")
        public Map<Long, User> find(List<Long> ids) {
            return Map.of();
        }
    }

    @Test
    void refusesABatchWithUnless() {
        refuses(BatchUnless.class, "find(List)", "a batch has no single #result", "Remove unless");
    }

    static class BatchOfArrays {
        @Cacheable(prefix = "user", keys = "#ids", batch = true)
        public Map<long[], User> find(List<long[]> ids) {
            return Map.of();
        }
    }

    @Test
    void refusesABatchOfElementsWithoutAText() {
        refuses(BatchOfArrays.class, "the elements of '#ids' are of long[]", "Use their ids");
    }

    static class BatchUpdateOfOne {
        @UpdateCache(prefix = "user", keys = "#id", batch = true)
        public void update(long id) {}
    }

    @Test
    void refusesABatchUpdateOfWhatHasNoElements() {
        refuses(
                BatchUpdateOfOne.class,
                "update(long)",
                "'#id' in keys is a long, which has no elements",
                "remove batch");
    }

    static class BatchUpdateOfParts {
        @UpdateCache(
                prefix = "user",
                keys = {"#ids", "#name"},
                batch = true)
        public void update(List<Long> ids, String name) {}
    }

    @Test
    void refusesABatchUpdateOfSeveralParts() {
        refuses(BatchUpdateOfParts.class, "keys has 2 parts", "#users.![id]");
    }

    static class StreamType {
        @Cacheable(prefix = "user", keys = "#id")
        public Stream<User> find(long id) {
            return Stream.of();
        }
    }

    @Test
    void refusesAStream() {
        refuses(StreamType.class, "find(long)", "java.util.stream.Stream can be read once only", "a list");
    }

    static class IteratorType {
        @Cacheable(prefix = "user", keys = "#id")
        public Iterator<User> find(long id) {
            return List.<User>of().iterator();
        }
    }

    @Test
    void refusesAnIterator() {
        refuses(IteratorType.class, "find(long)", "java.util.Iterator can be read once only", "a list");
    }

    static class InputStreamType {
        @Cacheable(prefix = "user", keys = "#id")
        public Optional<InputStream> find(long id) {
            return Optional.empty();
        }
    }

    @Test
    void refusesAnInputStreamInsideAnOptional() {
        refuses(InputStreamType.class, "find(long)", "java.io.InputStream can be read once only", "byte[]");
    }

    static class ResourceType {
        @Cacheable(prefix = "user", keys = "#id")
        public Resource find(long id) {
            throw new AssertionError();
        }
    }

    @Test
    void refusesAResource() {
        refuses(ResourceType.class, "find(long)", "Resource can be read once only", "byte[]");
    }

    static class FutureType {
        @Cacheable(prefix = "user", keys = "#id")
        public CompletableFuture<User> find(long id) {
            return CompletableFuture.completedFuture(new User(id, ""));
        }
    }

    @Test
    void refusesAFuture() {
        refuses(FutureType.class, "find(long)", "asynchronous", "returns the plain value");
    }

    static class MonoUpdate {
        @UpdateCache(prefix = "user", keys = "#id")
        public Mono<User> update(long id) {
            return Mono.empty();
        }
    }

    @Test
    void refusesAReactiveUpdate() {
        refuses(MonoUpdate.class, "update(long)", "asynchronous", "returns the plain value");
    }

    static class Untyped<T> {
        @Cacheable(prefix = "user", keys = "#id")
        public T find(long id) {
            throw new AssertionError();
        }
    }

    @Test
    void refusesATypeThatNobodyKnows() {
        refuses(Untyped.class, "find(long)", "cannot be restored from the type 'T'", "Declare the type");
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

    // Valid declarations

    static class Valid {
        @Cacheable(prefix = "user", keys = "#id")
        public User find(long id) {
            return new User(id, "");
        }

        @Cacheable(
                prefix = "stock",
                keys = {"#shop", "#sku"},
                consistency = Consistency.CP,
                ttl = "${ttl:90s}")
        public Optional<List<User>> stock(String shop, String sku) {
            return Optional.empty();
        }

        @UpdateCache(prefix = "user", keys = "#result.id", condition = "#result != null")
        public Optional<User> update(String name) {
            return Optional.empty();
        }
    }

    @Test
    void saysOnceWhatIsCachedAndHowOldItCanBe(CapturedOutput output) {
        runner.withPropertyValues("easy-cache.caches.stock.update-lease=1m")
                .withBean(Valid.class)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output)
                .containsOnlyOnce("CacheDeclarationTests.Valid.find(long) -> ec:user::{#id} on default, AP, ttl 10m,"
                        + " worst staleness 1500ms while every node reaches Redis (30s after a crash of an"
                        + " updater, +5s while Redis is away; after an update on a node without Redis:"
                        + " until that node reaches it again, or the ttl of 10m if it dies before; after"
                        + " a fail-over of Redis that lost the update: until its node has repeated it,"
                        + " or the ttl of 10m if that node died); without a transaction around the"
                        + " method, keys over #result are invalidated when it returns, or after the ttl"
                        + " of 10m if the node dies between commit and return")
                .containsOnlyOnce("Valid.stock(String, String) -> ec:stock::{#shop}:{#sku} on default, CP, ttl 90s,"
                        + " never stale (not stored for 1m after a crash of an updater), except after a"
                        + " fail-over of Redis that lost the update: until its node has repeated it, or"
                        + " the ttl of 90s if that node died");
    }

    @Test
    void saysThatACacheIsSerial(CapturedOutput output) {
        runner.withPropertyValues(
                        "easy-cache.caches.user.serial=true",
                        "easy-cache.caches.user.serial-wait=5s",
                        "easy-cache.defaults.serial-queue=50")
                .withBean(Users.class)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output)
                .containsOnlyOnce("; reads and updates of one key run in order of arrival in this JVM (turn within 5s,"
                        + " at most 50 waiting)");
    }

    static class Users {

        @Cacheable(prefix = "user", keys = "#userId")
        public User getUserById(Long userId) {
            return new User(userId, "Ada");
        }
    }

    @Test
    void saysWhatTheDocumentationPrints(CapturedOutput output) throws IOException {
        String printed = Files.readAllLines(Path.of("..", "docs", "easy-cache", "consistency.md")).stream()
                .filter(line -> line.startsWith("easy-cache: UserService."))
                .findFirst()
                .orElseThrow();
        runner.withBean(Users.class).run(context -> assertThat(context).hasNotFailed());
        assertThat(output)
                .containsOnlyOnce(printed.replace("easy-cache: UserService.", "CacheDeclarationTests.Users."));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    easy-cache.caches.user.near-ttl=2s      | worst staleness 2s while every node reaches Redis (near-ttl 2s; 30s after a crash of an updater, +5s while Redis is away; after an update on a node without Redis: until that node reaches it again, or the ttl of 10m if it dies before, plus the near-ttl of 2s; after a fail-over of Redis that lost the update: until its node has repeated it, or the ttl of 10m if that node died, plus the near-ttl of 2s)
                    easy-cache.outbox=jdbc                  | +5s while Redis is away; after an update on a node without Redis: 2500ms through the outbox; after a fail-over of Redis
                    easy-cache.degraded.ap-updates=refuse   | +5s while Redis is away; updates on a node without Redis are refused; after a fail-over of Redis
                    easy-cache.degraded.cp-updates=proceed  | of 90s if that node died, and after an update on a node without Redis: until that node reaches it again, or the ttl of 90s if it dies before
                    """)
    void saysHowOldAValueCanBeAfterAnUpdateWithoutRedis(String setting, String line, CapturedOutput output) {
        runner.withPropertyValues(setting).withBean(Valid.class).run(context -> assertThat(context)
                .hasNotFailed());
        assertThat(output).contains(line);
    }

    @Test
    void warnsOfSettingsThatNoMethodUses(CapturedOutput output) {
        runner.withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addFirst(new MapPropertySource("usr", Map.of("easy-cache.caches[usr:v2].ttl", "1m"))))
                .withBean(Valid.class)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output).contains("settings for 'usr:v2', but no @Cacheable or @UpdateCache has that prefix");
    }

    private static EntryStore nowhere() {
        return new RedisEntryStore(new LettuceConnectionFactory(), Duration.ofSeconds(1));
    }

    private void refuses(Class<?> bean, String... parts) {
        refuses(runner, bean, parts);
    }

    private static <T> void refuses(ApplicationContextRunner runner, Class<T> bean, String... parts) {
        runner.withBean(bean).run(context -> {
            assertThat(context).hasFailed();
            FailureAnalysis analysis = StartFailure.analysis(context.getStartupFailure());
            assertThat(analysis).isNotNull();
            String text = analysis.getDescription() + " | " + analysis.getAction();
            assertThat(text).contains(bean.getName()).contains(parts);
            assertThat(analysis.getAction()).contains(parts[parts.length - 1]);
        });
    }

    private static Class<?> compileWithoutParameterNames(String name, String source, Path classes) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        SimpleJavaFileObject file =
                new SimpleJavaFileObject(
                        URI.create("string:///" + name.replace('.', '/') + ".java"), SimpleJavaFileObject.Kind.SOURCE) {
                    @Override
                    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                        return source;
                    }
                };
        List<String> options = List.of("-d", classes.toString(), "-classpath", System.getProperty("java.class.path"));
        assertThat(compiler.getTask(null, null, null, options, null, List.of(file))
                        .call())
                .isTrue();
        byte[] bytes = Files.readAllBytes(classes.resolve(name.replace('.', '/') + ".class"));
        return new ClassLoader(CacheDeclarationTests.class.getClassLoader()) {
            Class<?> define() {
                return defineClass(name, bytes, 0, bytes.length);
            }
        }.define();
    }
}
