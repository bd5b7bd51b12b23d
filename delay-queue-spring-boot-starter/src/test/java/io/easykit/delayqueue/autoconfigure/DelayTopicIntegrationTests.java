package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.DelayTopic;
import io.easykit.delayqueue.FlowLimits;
import io.easykit.delayqueue.FlowLimits.Rate;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.PayloadCodec.PayloadType;
import io.easykit.delayqueue.TopicConflictException;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.MessageQuery;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.listener.DelayListenerRegistry;
import io.easykit.test.MistakesTable;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Topics that an application declares as beans. The class {@link Topics} and its users are the example of the documentation. */
class DelayTopicIntegrationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(DataRedisAutoConfiguration.class, DelayQueueAutoConfiguration.class))
            .withPropertyValues(
                    "spring.data.redis.url=" + RedisServer.shared().uri(), "delay-queue.command-timeout=5s");

    @BeforeEach
    void emptyRedis() {
        RedisServer.shared().flush();
    }

    @Configuration(proxyBeanMethods = false)
    static class Topics {

        static final String ORDER_CLOSE = "order-close";

        @Bean
        DelayTopic orderClose() {
            return DelayTopic.named(ORDER_CLOSE)
                    .shards(4)
                    .maxLeaseExpirations(3)
                    .deadLetterRetention(Duration.ofDays(30))
                    .build();
        }
    }

    static class Closing {

        final BlockingQueue<String> closed = new LinkedBlockingQueue<>();

        @DelayListener(topic = Topics.ORDER_CLOSE, concurrency = "2")
        void close(String order) {
            closed.add(order);
        }
    }

    @Test
    void sendersAndListenersShareTheSettingsOfADeclaredTopic() {
        runner.withUserConfiguration(Topics.class).withBean(Closing.class).run(context -> {
            DelayTopic orderClose = context.getBean(DelayTopic.class);
            context.getBean(DelayQueueTemplate.class).send(OutgoingMessage.of(orderClose, "o1"));

            assertThat(context.getBean(Closing.class).closed.poll(20, TimeUnit.SECONDS))
                    .isEqualTo("o1");
            assertThat(context.getBean(DelayQueueAdmin.class)
                            .stats(Topics.ORDER_CLOSE)
                            .shards())
                    .hasSize(4);
            assertThat(context.getBean(DelayListenerRegistry.class)
                            .container(Topics.ORDER_CLOSE)
                            .orElseThrow()
                            .endpoint())
                    .satisfies(endpoint -> {
                        assertThat(endpoint.maxLeaseExpirations()).isEqualTo(3);
                        assertThat(endpoint.deadLetterRetention()).isEqualTo(Duration.ofDays(30));
                        assertThat(endpoint.concurrency()).isEqualTo(2);
                    });
        });
    }

    @Test
    void settingsOverrideADeclaredTopicAndAnApplicationThatOnlySendsNeedsNone() {
        runner.withUserConfiguration(Topics.class)
                .withBean(Closing.class)
                .withPropertyValues(
                        "delay-queue.topics.order-close.shards=6",
                        "delay-queue.topics.order-close.max-lease-expirations=9")
                .run(context -> {
                    assertThat(context.getBean(DelayListenerRegistry.class)
                                    .container(Topics.ORDER_CLOSE)
                                    .orElseThrow()
                                    .endpoint()
                                    .maxLeaseExpirations())
                            .isEqualTo(9);
                    assertThat(context.getBean(DelayQueueAdmin.class)
                                    .stats(Topics.ORDER_CLOSE)
                                    .shards())
                            .hasSize(6);

                    runner.run(sender -> {
                        sender.getBean(DelayQueueTemplate.class).send(Topics.ORDER_CLOSE, "o2", Duration.ofHours(1));
                        DelayQueueAdmin admin = sender.getBean(DelayQueueAdmin.class);
                        assertThat(admin.stats(Topics.ORDER_CLOSE).shards()).hasSize(6);
                        assertThat(admin.stats(Topics.ORDER_CLOSE).waiting()).isEqualTo(1);
                        assertThat(admin.messages(Topics.ORDER_CLOSE, MessageQuery.waiting())
                                        .messages())
                                .hasSize(1);
                    });
                });
    }

    @Test
    void aGreaterCountOfADeclaredTopicAddsShardsAndKeepsOwnIdsWhereTheyAre() {
        runner.run(before -> {
            DelayQueueTemplate sender = before.getBean(DelayQueueTemplate.class);
            for (int i = 0; i < 20; i++) {
                sender.send(
                        OutgoingMessage.of(Topics.ORDER_CLOSE, "x").id("o" + i).after(Duration.ofHours(1)));
            }

            runner.withUserConfiguration(Topics.class).run(after -> {
                DelayQueueTemplate grown = after.getBean(DelayQueueTemplate.class);
                for (int i = 0; i < 20; i++) {
                    assertThat(grown.send(OutgoingMessage.of(Topics.ORDER_CLOSE, "x")
                                            .id("o" + i))
                                    .isDuplicate())
                            .isTrue();
                    assertThat(grown.find(Topics.ORDER_CLOSE, "o" + i)).isPresent();
                }
                assertThat(after.getBean(DelayQueueAdmin.class)
                                .stats(Topics.ORDER_CLOSE)
                                .shards())
                        .hasSize(4);
            });
        });
    }

    static class Calls {

        final BlockingQueue<String> called = new LinkedBlockingQueue<>();

        @DelayListener(topic = "partner-call", concurrency = "4")
        void call(String order) {
            called.add(order);
        }
    }

    private static DelayTopic partnerCall() {
        return DelayTopic.named("partner-call")
                .rate("600/min")
                .burst(2)
                .maxInFlight(3)
                .build();
    }

    @Test
    void listenersHaveTheLimitsOfTheirTopic() {
        FlowLimits declared = new FlowLimits(new Rate(600, Duration.ofMinutes(1), 2), 3);

        runner.withBean(DelayTopic.class, DelayTopicIntegrationTests::partnerCall)
                .withBean(Calls.class)
                .run(context -> {
                    context.getBean(DelayQueueTemplate.class).send("partner-call", "o1", Duration.ZERO);

                    assertThat(context.getBean(Calls.class).called.poll(20, TimeUnit.SECONDS))
                            .isEqualTo("o1");
                    assertThat(limits(context, "partner-call")).isEqualTo(declared);
                    ShardStats.Flow used = context.getBean(DelayQueueAdmin.class)
                            .stats("partner-call")
                            .flow();
                    assertThat(used)
                            .isNotNull()
                            .returns(10.0, ShardStats.Flow::perSecond)
                            .returns(2, ShardStats.Flow::burst)
                            .returns(3, ShardStats.Flow::places);
                    DelayQueueEngine engine = context.getBean(DelayQueueEngine.class);
                    assertThat(engine.container(listener().build(), message -> {})
                                    .endpoint()
                                    .limits())
                            .as("those of a listener that the application makes itself")
                            .isEqualTo(declared);
                });
    }

    @Test
    void settingsOverrideTheLimitsOfADeclaredTopicOneByOne() {
        runner.withBean(DelayTopic.class, DelayTopicIntegrationTests::partnerCall)
                .withBean(Calls.class)
                .withPropertyValues(
                        "delay-queue.topics.partner-call.rate=50/s", "delay-queue.topics.partner-call.max-in-flight=9")
                .run(context -> {
                    FlowLimits both = new FlowLimits(new Rate(50, Duration.ofSeconds(1), 2), 9);
                    assertThat(limits(context, "partner-call")).isEqualTo(both);
                    DelayQueueEngine engine = context.getBean(DelayQueueEngine.class);
                    assertThatThrownBy(() -> engine.container(
                                    listener().limits(FlowLimits.maxInFlight(2)).build(), message -> {}))
                            .isInstanceOf(TopicConflictException.class)
                            .hasMessage(
                                    "Listener 'own' has limits of 2 in flight, and its topic 'partner-call' has 50/s with"
                                            + " a burst of 2, 9 in flight. Remove the limits from the listener, because they belong"
                                            + " to the topic.");
                });
    }

    @Test
    void defaultLimitsAreNotThoseOfATopic() {
        runner.withBean(Calls.class)
                .withPropertyValues("delay-queue.defaults.max-in-flight=9")
                .run(context -> {
                    assertThat(limits(context, "partner-call")).isEqualTo(FlowLimits.maxInFlight(9));
                    FlowLimits own = FlowLimits.maxInFlight(2);
                    assertThat(context.getBean(DelayQueueEngine.class)
                                    .container(listener().limits(own).build(), message -> {})
                                    .endpoint()
                                    .limits())
                            .isEqualTo(own);
                });
    }

    @Test
    void refusesATopicThatLeavesAShardWithoutAPlace() {
        runner.withBean(DelayTopic.class, DelayTopicIntegrationTests::partnerCall)
                .withBean(Calls.class)
                .withPropertyValues("delay-queue.topics.partner-call.shards=4")
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .isInstanceOf(TopicConflictException.class)
                        .hasMessageContaining("Give max-in-flight a value of 4 or more."));
    }

    private static FlowLimits limits(ApplicationContext context, String listener) {
        return context.getBean(DelayListenerRegistry.class)
                .container(listener)
                .orElseThrow()
                .endpoint()
                .limits();
    }

    private static ListenerEndpoint.Builder listener() {
        return ListenerEndpoint.builder("own", "partner-call", String.class);
    }

    static class Contradiction {

        @DelayListener(topic = "declared", maxLeaseExpirations = "5")
        void on(String message) {}
    }

    @Test
    void reportsContradictionsWithTheirRemedies() {
        DelayTopic topic = DelayTopic.named("declared").maxLeaseExpirations(3).build();

        runner.withBean("declared", DelayTopic.class, () -> topic)
                .withBean("again", DelayTopic.class, () -> topic)
                .withBean(Contradiction.class)
                .run(context -> MistakesTable.assertReported(
                        context.getStartupFailure(), MistakesTable.rows("delay-queue: declared topics")));
        runner.withBean("declared", DelayTopic.class, () -> topic)
                .withBean(Contradiction.class)
                .withPropertyValues("delay-queue.topics.declared.max-lease-expirations=4")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void theTypeOfAGenericPayloadIsPartOfTheMessage() {
        runner.run(context -> {
            Map<String, List<Integer>> payload = Map.of("a", List.of(1, 2));
            OutgoingMessage message = OutgoingMessage.of("numbers", payload, new PayloadType<>() {});

            assertThat(String.valueOf(message.payloadType()))
                    .isEqualTo("java.util.Map<java.lang.String, java.util.List<java.lang.Integer>>");
            assertThat(context.getBean(DelayQueueTemplate.class).send(message).isDuplicate())
                    .isFalse();
        });
    }
}
