package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.annotation.DeadLetterListener;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.test.MistakesContract;
import java.util.Map;
import java.util.Objects;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.context.support.GenericApplicationContext;

/** Checks each row of the documented table of mistakes against the report of a start. */
class MistakesTests extends MistakesContract {

    private static final Map<String, Class<?>> LISTENERS = Map.ofEntries(
            Map.entry("a private method", ListenerDeclarationTests.PrivateMethod.class),
            Map.entry("a static method", ListenerDeclarationTests.StaticMethod.class),
            Map.entry(
                    "an interface that the superclass does not implement",
                    ListenerDeclarationTests.HiddenByASuperclass.class),
            Map.entry("no parameter for the payload", ListenerDeclarationTests.NoParameter.class),
            Map.entry("two parameters for the payload", ListenerDeclarationTests.TwoPayloads.class),
            Map.entry("a placeholder without a value", ListenerDeclarationTests.UnresolvedTopic.class),
            Map.entry("an empty topic", ListenerDeclarationTests.EmptyTopic.class),
            Map.entry("a topic with a space", ListenerDeclarationTests.ImpossibleTopic.class),
            Map.entry("a number that is none", ListenerDeclarationTests.NoNumber.class),
            Map.entry("a concurrency of 0", ListenerDeclarationTests.NothingConcurrent.class),
            Map.entry("a duration that is none", ListenerDeclarationTests.NoDuration.class),
            Map.entry("a duration without a unit", ListenerDeclarationTests.NoUnit.class),
            Map.entry("a lease of a millisecond", ListenerDeclarationTests.TinyLease.class),
            Map.entry("a batch of a thousand", ListenerDeclarationTests.HugeBatch.class),
            Map.entry("a batch without a list", ListenerDeclarationTests.BatchOfOne.class),
            Map.entry("a future", ListenerDeclarationTests.Future.class),
            Map.entry("an @Async method", ListenerDeclarationTests.AsyncMethod.class),
            Map.entry("a @Valid payload of another class", ListenerDeclarationTests.ValidPayload.class),
            Map.entry("two annotations on one method", ListenerDeclarationTests.TwoAnnotations.class),
            Map.entry("an interface as payload", InterfacePayload.class),
            Map.entry("two types of payload on one topic", TwoTypes.class),
            Map.entry("a cached listener", CachedListener.class),
            Map.entry("a listener in a cached class", ListenerDeclarationTests.CachedClass.class),
            Map.entry("a header with an unknown placeholder", ListenerDeclarationTests.UnresolvedHeader.class),
            Map.entry("a header by an expression", ListenerDeclarationTests.ExpressionHeader.class),
            Map.entry("a dead letter listener without a dead letter", NoDeadLetter.class),
            Map.entry("an unknown error handler", UnknownErrorHandler.class),
            Map.entry("an idempotent listener without a database", IdempotentListenerIntegrationTests.Counting.class),
            Map.entry("an idempotent batch", IdempotentListenerIntegrationTests.Batches.class),
            Map.entry(
                    "an idempotent listener that settles its messages",
                    IdempotentListenerIntegrationTests.Manual.class),
            Map.entry(
                    "an idempotent listener with a transaction of its own",
                    IdempotentListenerIntegrationTests.Apart.class),
            Map.entry("two listeners of one id", ListenerDeclarationTests.Good.class),
            Map.entry("a lazy bean", ListenerDeclarationTests.OrdersOfItsOwn.class),
            Map.entry("a prototype", ListenerDeclarationTests.OrdersOfItsOwn.class));

    MistakesTests() {
        super(
                "delay-queue",
                new ApplicationContextRunner()
                        .withConfiguration(AutoConfigurations.of(
                                DataRedisAutoConfiguration.class,
                                DelayQueueAutoConfiguration.class,
                                DisabledDelayQueueAutoConfiguration.class))
                        .withPropertyValues(
                                "spring.data.redis.port=1", "delay-queue.auto-startup=false", "audit.id=audit"));
    }

    static class InterfacePayload {
        @DelayListener(topic = "interface")
        void on(Runnable message) {}
    }

    static class TwoTypes {
        @DelayListener(topic = "types", id = "texts")
        void on(String message) {}

        @DelayListener(topic = "types", id = "numbers")
        void on(Long message) {}
    }

    static class NoDeadLetter {
        @DeadLetterListener(topic = "orders")
        void on(String message) {}
    }

    static class UnknownErrorHandler {
        @DelayListener(topic = "orders", errorHandler = "missing")
        void on(String message) {}
    }

    static class CachedListener {
        @DelayListener(topic = "cached")
        @Cacheable("messages")
        public String on(String message) {
            return message;
        }
    }

    @Override
    protected void register(GenericApplicationContext context, String declaration) {
        Class<?> listener = Objects.requireNonNull(LISTENERS.get(declaration), declaration);
        context.registerBean(declaration, listener, definition -> {
            definition.setLazyInit(declaration.equals("a lazy bean"));
            definition.setScope(declaration.equals("a prototype") ? "prototype" : "singleton");
        });
        if (declaration.equals("two listeners of one id")) {
            context.registerBean("another", ListenerDeclarationTests.AlsoOrders.class);
        }
    }
}
