package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.boot.InvalidConfigurationException;
import io.easykit.delayqueue.DeadLetter;
import io.easykit.delayqueue.annotation.DeadLetterListener;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.listener.DelayListenerRegistry;
import io.easykit.delayqueue.listener.PackagePrivateListener;
import io.easykit.delayqueue.listener.ProtectedListener;
import io.easykit.test.StartFailure;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotBlank;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.autoproxy.BeanNameAutoProxyCreator;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.Caching;
import org.springframework.context.annotation.Bean;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.annotation.AliasFor;
import org.springframework.core.test.tools.SourceFile;
import org.springframework.core.test.tools.TestCompiler;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Payload;
import org.springframework.scheduling.annotation.Async;
import org.springframework.validation.annotation.Validated;
import reactor.core.publisher.Mono;

/** Declarations that fail the start of an application, and the report. */
class ListenerDeclarationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(DataRedisAutoConfiguration.class, DelayQueueAutoConfiguration.class))
            .withPropertyValues("spring.data.redis.port=1", "delay-queue.auto-startup=false");

    @ParameterizedTest
    @MethodSource("wrongListeners")
    void refusesWithBeanMethodAndRemedy(Class<?> listener, String problem, String remedy) {
        runner.withBean("orders", listener).run(context -> {
            assertThat(context).getFailure().satisfies(failure -> assertThat(StartFailure.analysis(failure))
                    .satisfies(analysis -> {
                        assertThat(analysis.getDescription())
                                .contains(listener.getName() + ".on(")
                                .contains("bean 'orders'")
                                .contains(problem);
                        assertThat(analysis.getAction()).contains(remedy);
                    }));
        });
    }

    static Stream<Arguments> wrongListeners() {
        return Stream.of(
                Arguments.of(PrivateMethod.class, "a private method", "not private"),
                Arguments.of(StaticMethod.class, "a static method", "instance method"),
                Arguments.of(NoParameter.class, "no parameter for the payload", "Add one"),
                Arguments.of(TwoPayloads.class, "2 parameters for the payload", "@Header"),
                Arguments.of(
                        UnresolvedTopic.class, "topic = \"${orders.topic}\" cannot be resolved", "Set the property"),
                Arguments.of(EmptyTopic.class, "topic is empty", "Name the topic"),
                Arguments.of(ImpossibleTopic.class, "Topic 'a topic' is not usable", "Correct it"),
                Arguments.of(NoNumber.class, "concurrency is 'many'", "a whole number"),
                Arguments.of(NothingConcurrent.class, "concurrency is 0: give 1 to 100000", "Correct it"),
                Arguments.of(EndlesslyConcurrent.class, "concurrency is 2147483647: give 1 to 100000", "Correct it"),
                Arguments.of(NoDuration.class, "lease is 'a while'", "30s"),
                Arguments.of(NoUnit.class, "backOff is '30', which cannot be read", "with its unit, for example 30s"),
                Arguments.of(NoUnitInASetting.class, "lease is '500'", "with its unit, for example 30s"),
                Arguments.of(NoUnitOfDeadLetters.class, "backOff is '-1'", "with its unit, for example 30s"),
                Arguments.of(TinyLease.class, "lease is 1ms: give 100 ms", "Correct it"),
                Arguments.of(NegativeBackOff.class, "firstDelay is -1s", "Correct it"),
                Arguments.of(NoAttempts.class, "maxAttempts is 0", "Correct it"),
                Arguments.of(HugeBatch.class, "batchSize is 1000: give 1 to 100", "Correct it"),
                Arguments.of(BatchOfOne.class, "something else than one List", "List<T>"),
                Arguments.of(Future.class, "the method is asynchronous", "Wait for the result"),
                Arguments.of(Reactive.class, "the method is asynchronous", "Wait for the result"),
                Arguments.of(AsyncMethod.class, "the method is @Async", "Remove @Async"),
                Arguments.of(ValidPayload.class, "@Valid on a parameter has no effect", "@Validated on the class"),
                Arguments.of(ValidBatch.class, "@Valid on a parameter has no effect", "@Validated on the class"),
                Arguments.of(ValidInterface.class, "@Valid on a parameter has no effect", "@Validated on the class"),
                Arguments.of(ValidatedPayload.class, "@Validated on a parameter has no effect", "on the class"),
                Arguments.of(TwoAnnotations.class, "has @DelayListener and @DeadLetterListener", "Keep one"),
                Arguments.of(TwoComposed.class, "has @ThreeAtATime and @OneAtATime", "Keep one"),
                Arguments.of(CachedMethod.class, "the method is @Cacheable too", "Remove one"),
                Arguments.of(OneOfSeveralCaches.class, "the method is @Cacheable too", "Remove one"),
                Arguments.of(CachedClass.class, "the class is @Cacheable", "move the listener to another class"),
                Arguments.of(SeveralCaches.class, "the class is @Cacheable", "move the listener to another class"),
                Arguments.of(CachedByInterface.class, "the class is @Cacheable", "on single methods"),
                Arguments.of(
                        HiddenByASuperclass.class,
                        "the method is that of " + PlainOrders.class.getName() + ", which is not a "
                                + Listening.class.getName(),
                        "Override the method in " + HiddenByASuperclass.class.getName()),
                Arguments.of(
                        OfTwoInterfaces.class,
                        "it inherits different annotations from " + Replaced.class.getName() + " and "
                                + Elsewhere.class.getName(),
                        "Override the method in " + OfTwoInterfaces.class.getName()),
                Arguments.of(
                        OfASuperclass.class,
                        "it inherits different annotations from " + Replacing.class.getName() + " and "
                                + Elsewhere.class.getName(),
                        "or have a bean for each"),
                Arguments.of(
                        UnresolvedHeader.class, "@Header = \"${no.header}\" cannot be resolved", "Set the property"),
                Arguments.of(ExpressionHeader.class, "'#{tenant}' is an expression", "It may hold placeholders"));
    }

    @Test
    void refusesAFutureThatATypeVariableHides() {
        runner.withBean("orders", CloseHandler.class).run(context -> assertThat(context)
                .getFailure()
                .hasMessageContaining("CloseHandler.handle(Object)")
                .hasMessageContaining("the method is asynchronous (java.util.concurrent.CompletableFuture)"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"Job", "Deferred"})
    void refusesACoroutineOfKotlin(String type) {
        SourceFile listener = SourceFile.of(
                """
                package com.shop;
                public class Orders {
                    @io.easykit.delayqueue.annotation.DelayListener(topic = "orders")
                    public kotlinx.coroutines.%s on(String order) { return null; }
                }
                """
                        .formatted(type));
        TestCompiler.forSystem()
                .withSources(
                        SourceFile.of("package kotlinx.coroutines; public interface Job {}"),
                        SourceFile.of("package kotlinx.coroutines; public interface Deferred extends Job {}"),
                        listener)
                .compile(compiled -> runner.withBean(
                                "orders",
                                compiled.getAllCompiledClasses().stream()
                                        .filter(some -> some.getSimpleName().equals("Orders"))
                                        .findFirst()
                                        .orElseThrow())
                        .run(context -> assertThat(context)
                                .getFailure()
                                .hasMessageContaining("the method is asynchronous (kotlinx.coroutines." + type + ")")));
    }

    @Test
    void refusesTwoListenersOfOneId() {
        runner.withBean("one", Good.class).withBean("other", AlsoOrders.class).run(context -> assertThat(context)
                .getFailure()
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageContaining("bean 'one'")
                .hasMessageContaining("bean 'other'")
                .hasMessageContaining("its id 'orders' is also that of"));
    }

    @Test
    void reportsAllWrongListenersAtOnce() {
        runner.withBean("one", PrivateMethod.class)
                .withBean("two", NoNumber.class)
                .withBean("three", TinyLease.class)
                .withBean("lazy", Good.class, Good::new, definition -> definition.setLazyInit(true))
                .run(context -> assertThat(context).getFailure().satisfies(failure -> assertThat(
                                StartFailure.analysis(failure))
                        .satisfies(analysis -> {
                            assertThat(analysis.getDescription().lines())
                                    .hasSize(4)
                                    .anyMatch(line -> line.contains("'one'") && line.contains("a private method"))
                                    .anyMatch(line -> line.contains("'two'") && line.contains("concurrency is 'many'"))
                                    .anyMatch(line -> line.contains("'three'") && line.contains("lease is 1ms"))
                                    .anyMatch(line -> line.contains("'lazy'") && line.contains("on demand only"));
                            assertThat(analysis.getAction().lines()).hasSize(4);
                        })));
    }

    @ParameterizedTest
    @ValueSource(strings = {"prototype", "lazy"})
    void refusesBeansThatTheStartDoesNotCreate(String kind) {
        runner.withBean("orders", Good.class, Good::new, definition -> {
                    definition.setLazyInit(kind.equals("lazy"));
                    definition.setScope(kind.equals("lazy") ? "singleton" : kind);
                })
                .run(context -> assertThat(context).getFailure().satisfies(failure -> assertThat(
                                StartFailure.analysis(failure))
                        .satisfies(analysis -> {
                            assertThat(analysis.getDescription())
                                    .contains("Good.on(String)")
                                    .contains("bean 'orders'")
                                    .contains("created on demand only");
                            assertThat(analysis.getAction()).contains("Remove @Lazy");
                        })));
    }

    @Test
    void takesALazyBeanThatAnotherBeanNeeds() {
        runner.withBean("orders", Good.class, Good::new, definition -> definition.setLazyInit(true))
                .withBean("needsThem", NeedsGood.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void allowsTwoListenersOfOneTopicWithIdsOfTheirOwn() {
        runner.withBean("one", Good.class)
                .withBean("other", OrdersOfItsOwn.class)
                .withPropertyValues("audit.id=audit")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void refusesTwoListenersOfOneTopicThatContradictEachOther() {
        runner.withBean("one", Good.class)
                .withBean("other", Fragile.class)
                .withPropertyValues("delay-queue.auto-startup=true")
                .run(context -> assertThat(context).getFailure().satisfies(failure -> assertThat(
                                new TopicConflictFailureAnalyzer().analyze(failure))
                        .satisfies(analysis -> {
                            assertThat(analysis.getDescription())
                                    .contains("'orders'")
                                    .contains("'fragile'")
                                    .contains("maxLeaseExpirations 1");
                            assertThat(analysis.getAction()).contains("give both listeners the same");
                        })));
    }

    @Test
    void refusesAMethodThatAnInterfaceProxyDoesNotHave() {
        runner.withBean("orders", WithInterface.class)
                .withUserConfiguration(InterfaceProxies.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining("the bean has an interface proxy")
                        .hasStackTraceContaining("spring.aop.proxy-target-class"));
    }

    @Test
    void refusesAFinalMethodOfAClassProxy() {
        runner.withBean("orders", FinalMethod.class)
                .withUserConfiguration(ClassProxies.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasMessageContaining("a final method runs without the bean's fields"));
    }

    @Test
    void takesAFinalMethodWithoutAProxy() {
        runner.withBean("orders", FinalMethod.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void refusesAPackagePrivateMethodOfAnotherPackageOnAClassProxy() {
        runner.withBean("orders", Heir.class)
                .withUserConfiguration(ClassProxies.class)
                .run(context -> assertThat(context).getFailure().satisfies(failure -> assertThat(
                                StartFailure.analysis(failure))
                        .satisfies(analysis -> {
                            assertThat(analysis.getDescription())
                                    .contains("bean 'orders'")
                                    .contains("a package-private method of another package");
                            assertThat(analysis.getAction()).contains("protected or public");
                        })));
    }

    @Test
    void takesAMethodThatAClassProxyOverrides() {
        for (Class<?> listener : List.of(HeirOfProtected.class, HeirOfGood.class)) {
            runner.withBean("orders", listener)
                    .withUserConfiguration(ClassProxies.class)
                    .run(context -> assertThat(context).hasNotFailed());
        }
        runner.withBean("orders", Heir.class).run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void reportsTheSameMistakeEachTimeALateBeanIsCreated() {
        runner.run(context -> {
            define(context, "late", TinyLease.class);
            define(context, "mended", Good.class);

            for (int attempt = 1; attempt <= 2; attempt++) {
                assertThatThrownBy(() -> context.getBean("late")).hasStackTraceContaining("lease is 1ms");
            }
            assertThat(context.getBean("mended")).isInstanceOf(Good.class);
            assertThat(context.getBean(DelayListenerRegistry.class).container("orders"))
                    .isPresent();
        });
    }

    @Test
    void reportsTheSameContradictionEachTimeALateBeanIsCreated() {
        runner.withBean("one", Good.class)
                .withPropertyValues("delay-queue.auto-startup=true")
                .run(context -> {
                    define(context, "late", Fragile.class);

                    for (int attempt = 1; attempt <= 2; attempt++) {
                        assertThatThrownBy(() -> context.getBean("late"))
                                .hasStackTraceContaining("maxLeaseExpirations 1");
                    }
                });
    }

    private static void define(AssertableApplicationContext context, String name, Class<?> type) {
        context.getSourceApplicationContext(GenericApplicationContext.class).registerBean(name, type);
    }

    /** An update of a cache runs the method each time. */
    @Test
    void takesAMethodThatUpdatesACache() {
        runner.withBean("orders", Evicting.class)
                .run(context -> assertThat(context).hasNotFailed());
        runner.withBean("orders", CachedHeir.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void readsComposedAnnotations() {
        runner.withBean("orders", Composed.class).run(context -> {
            var endpoint = context.getBean(DelayListenerRegistry.class)
                    .container("composed")
                    .orElseThrow()
                    .endpoint();
            assertThat(endpoint.topic()).isEqualTo("composed");
            assertThat(endpoint.concurrency()).isEqualTo(3);
            assertThat(endpoint.notRetried()).isEqualTo(List.of(IllegalArgumentException.class));
        });
    }

    @Test
    void takesAnAnnotationThatReplacesTheOneOfAnInterface() {
        runner.withBean("orders", Replacing.class).run(context -> assertThat(
                        context.getBean(DelayListenerRegistry.class).containers())
                .singleElement()
                .satisfies(container -> assertThat(container.endpoint().topic()).isEqualTo("own")));
    }

    @Test
    void takesOneAnnotationThatTwoInterfacesHave() {
        runner.withBean("orders", OfTwoThatAreAlike.class).run(context -> assertThat(
                        context.getBean(DelayListenerRegistry.class).containers())
                .singleElement()
                .satisfies(container -> assertThat(container.endpoint().topic()).isEqualTo("orders")));
    }

    static class Good {
        @DelayListener(topic = "orders")
        void on(String order) {}
    }

    record NeedsGood(Good good) {}

    static class AlsoOrders {
        @DelayListener(topic = "orders")
        void on(String order) {}
    }

    static class OrdersOfItsOwn {
        @DelayListener(topic = "orders", id = "${audit.id}")
        void on(String order) {}
    }

    static class Fragile {
        @DelayListener(topic = "orders", id = "fragile", maxLeaseExpirations = "1")
        void on(String order) {}
    }

    static class PrivateMethod {
        @SuppressWarnings({"UnusedMethod", "UnusedVariable"})
        @DelayListener(topic = "orders")
        private void on(String order) {}
    }

    static class StaticMethod {
        @DelayListener(topic = "orders")
        static void on(String order) {}
    }

    static class NoParameter {
        @DelayListener(topic = "orders")
        void on() {}
    }

    static class TwoPayloads {
        @DelayListener(topic = "orders")
        void on(String order, Integer number) {}
    }

    static class UnresolvedTopic {
        @DelayListener(topic = "${orders.topic}")
        void on(String order) {}
    }

    static class EmptyTopic {
        @DelayListener(topic = "${nothing:}")
        void on(String order) {}
    }

    static class ImpossibleTopic {
        @DelayListener(topic = "a topic")
        void on(String order) {}
    }

    static class NoNumber {
        @DelayListener(topic = "orders", concurrency = "${threads:many}")
        void on(String order) {}
    }

    static class NothingConcurrent {
        @DelayListener(topic = "orders", concurrency = "0")
        void on(String order) {}
    }

    static class EndlesslyConcurrent {
        @DelayListener(topic = "orders", concurrency = "2147483647")
        void on(String order) {}
    }

    static class NoDuration {
        @DelayListener(topic = "orders", lease = "a while")
        void on(String order) {}
    }

    static class NoUnit {
        @DelayListener(topic = "orders", backOff = "30")
        void on(String order) {}
    }

    static class NoUnitInASetting {
        @DelayListener(topic = "orders", lease = "${close.lease: 500 }")
        void on(String order) {}
    }

    static class NoUnitOfDeadLetters {
        @DeadLetterListener(topic = "orders", backOff = "-1")
        void on(DeadLetter<String> order) {}
    }

    static class TinyLease {
        @DelayListener(topic = "orders", lease = "1ms")
        void on(String order) {}
    }

    static class NegativeBackOff {
        @DelayListener(topic = "orders", backOff = "-1s")
        void on(String order) {}
    }

    static class NoAttempts {
        @DelayListener(topic = "orders", maxAttempts = "0")
        void on(String order) {}
    }

    static class HugeBatch {
        @DelayListener(topic = "orders", batchSize = "1000")
        void on(List<String> orders) {}
    }

    static class BatchOfOne {
        @DelayListener(topic = "orders", batchSize = "10")
        void on(String order) {}
    }

    static class Future {
        @DelayListener(topic = "orders")
        CompletableFuture<String> on(String order) {
            return CompletableFuture.completedFuture(order);
        }
    }

    abstract static class Handler<C, R> {
        @DelayListener(topic = "orders")
        public R handle(C command) {
            return process(command);
        }

        abstract R process(C command);
    }

    static class CloseHandler extends Handler<String, CompletableFuture<Void>> {
        @Override
        CompletableFuture<Void> process(String order) {
            return CompletableFuture.completedFuture(null);
        }
    }

    static class Reactive {
        @DelayListener(topic = "orders")
        Mono<String> on(String order) {
            return Mono.just(order);
        }
    }

    static class AsyncMethod {
        @Async
        @DelayListener(topic = "orders")
        void on(String order) {}
    }

    record Order(@NotBlank String id) {}

    static class ValidPayload {
        @DelayListener(topic = "orders")
        void on(@Payload @Valid Order order) {}
    }

    static class ValidBatch {
        @DelayListener(topic = "orders", batchSize = "10")
        void on(@Valid List<Order> orders) {}
    }

    interface TakesValid {
        void on(@Valid Order order);
    }

    static class ValidInterface implements TakesValid {
        @Override
        @DelayListener(topic = "orders")
        public void on(Order order) {}
    }

    static class ValidatedPayload {
        @DelayListener(topic = "orders")
        void on(@Validated Order order) {}
    }

    static class CachedMethod {
        @Cacheable("orders")
        @DelayListener(topic = "orders")
        public String on(String order) {
            return order;
        }
    }

    static class OneOfSeveralCaches {
        @Caching(cacheable = @Cacheable("orders"), evict = @CacheEvict("customers"))
        @DelayListener(topic = "orders")
        public void on(String order) {}
    }

    @Cacheable("orders")
    static class CachedClass {
        @DelayListener(topic = "orders")
        public String on(String order) {
            return order;
        }
    }

    @Caching(cacheable = @Cacheable("orders"))
    static class SeveralCaches {
        @DelayListener(topic = "orders")
        public void on(String order) {}
    }

    interface Listening<T> {
        @DelayListener(topic = "orders")
        void on(T order);
    }

    static class PlainOrders {
        public void on(String order) {}
    }

    static class HiddenByASuperclass extends PlainOrders implements Listening<String> {}

    @Cacheable("orders")
    interface Cached {}

    static class CachedByInterface implements Cached {
        @DelayListener(topic = "orders")
        public void on(String order) {}
    }

    /** Spring does not cache the methods that it inherits. */
    @Cacheable("orders")
    static class CachedHeir extends Good {}

    @CacheEvict("orders")
    static class Evicting {
        @Caching(evict = @CacheEvict("customers"))
        @DelayListener(topic = "orders")
        public void on(String order) {}
    }

    static class UnresolvedHeader {
        @DelayListener(topic = "orders")
        void on(String order, @Header("${no.header}") String tenant) {}
    }

    static class ExpressionHeader {
        @DelayListener(topic = "orders")
        void on(String order, @Header("#{tenant}") String tenant) {}
    }

    static class FinalMethod {
        @DelayListener(topic = "orders")
        final void on(String order) {}
    }

    static class Heir extends PackagePrivateListener {}

    static class HeirOfProtected extends ProtectedListener {}

    static class HeirOfGood extends Good {}

    interface Named {
        String name();
    }

    static class WithInterface implements Named {
        @Override
        public String name() {
            return "orders";
        }

        @DelayListener(topic = "orders")
        public void on(String order) {}
    }

    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @DelayListener(topic = "unknown", noRetryFor = IllegalArgumentException.class)
    @interface ThreeAtATime {

        @AliasFor(annotation = DelayListener.class, attribute = "topic")
        String value();

        @AliasFor(annotation = DelayListener.class, attribute = "concurrency")
        String places() default "3";
    }

    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @DelayListener(topic = "slow", concurrency = "1")
    @interface OneAtATime {}

    static class TwoAnnotations {
        @DelayListener(topic = "orders")
        @DeadLetterListener(topic = "orders")
        void on(String order) {}
    }

    static class TwoComposed {
        @ThreeAtATime("orders")
        @OneAtATime
        void on(String order) {}
    }

    interface Replaced {
        @DelayListener(topic = "orders")
        void on(String order);
    }

    static class Replacing implements Replaced {
        @Override
        @DelayListener(topic = "own")
        public void on(String order) {}
    }

    interface Elsewhere {
        @DelayListener(topic = "elsewhere")
        void on(String order);
    }

    interface LikeReplaced {
        @DelayListener(topic = "orders")
        void on(String order);
    }

    static class OfTwoInterfaces implements Replaced, Elsewhere {
        @Override
        public void on(String order) {}
    }

    static class OfASuperclass extends Replacing implements Elsewhere {}

    static class OfTwoThatAreAlike implements Replaced, LikeReplaced {
        @Override
        public void on(String order) {}
    }

    static class Composed {
        @ThreeAtATime("composed")
        void on(String order) {}
    }

    static class InterfaceProxies {
        @Bean
        static BeanNameAutoProxyCreator proxies() {
            BeanNameAutoProxyCreator proxies = new BeanNameAutoProxyCreator();
            proxies.setBeanNames("orders");
            return proxies;
        }
    }

    static class ClassProxies {
        @Bean
        static BeanNameAutoProxyCreator proxies() {
            BeanNameAutoProxyCreator proxies = new BeanNameAutoProxyCreator();
            proxies.setBeanNames("orders");
            proxies.setProxyTargetClass(true);
            return proxies;
        }
    }
}
