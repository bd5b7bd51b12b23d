package io.easykit.delayqueue.autoconfigure;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.easykit.delayqueue.Acknowledgment;
import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.DelayQueueListener;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.PayloadCodec;
import io.easykit.delayqueue.UndecodableMessageException;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.MessageQuery;
import io.easykit.delayqueue.admin.TopicStats;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.listener.DelayListenerRegistry;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import jakarta.annotation.PreDestroy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationContextAware;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Headers;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Annotated methods of an application receive messages through a real Redis. */
class DelayListenerIntegrationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withUserConfiguration(Application.class)
            .withPropertyValues(
                    "spring.data.redis.url=" + RedisServer.shared().uri(),
                    "delay-queue.command-timeout=2s",
                    // Or each message has one header more.
                    "delay-queue.tracing=off");

    @BeforeEach
    void emptyRedis() {
        RedisServer.shared().flush();
    }

    @Test
    void givesAListenerWhateverItTakes() {
        runner.withBean(EveryForm.class).run(context -> {
            DelayQueueTemplate template = context.getBean(DelayQueueTemplate.class);
            EveryForm listener = context.getBean(EveryForm.class);

            template.send("plain", new Order("1", 7), Duration.ZERO);
            assertThat(listener.next()).isEqualTo(new Order("1", 7));

            template.send("generic", Map.of("orders", List.of(new Order("2", 8))), Duration.ZERO);
            assertThat(listener.next()).isEqualTo(Map.of("orders", List.of(new Order("2", 8))));

            template.send(OutgoingMessage.of("message", List.of(1L)).id("own").header("tenant", "acme"));
            assertThat(listener.next()).satisfies(got -> {
                DelayMessage<?> message = (DelayMessage<?>) got;
                assertThat(message.id()).isEqualTo("own");
                assertThat(message.payload()).isEqualTo(List.of(1L));
                assertThat(message.attempt()).isEqualTo(1);
                assertThat(message.headers()).containsEntry("tenant", "acme");
            });

            template.send(
                    OutgoingMessage.of("headers", "x").header("tenant", "acme").header("tries", "3"));
            assertThat(listener.next()).isEqualTo(List.of("x", "acme", 3, Map.of("tenant", "acme", "tries", "3")));
        });
    }

    @Test
    void leavesTheSettlingToAListenerThatTakesAnAcknowledgment() {
        runner.withBean(EveryForm.class).run(context -> {
            DelayQueueEngine engine = context.getBean(DelayQueueEngine.class);
            EveryForm listener = context.getBean(EveryForm.class);
            context.getBean(DelayQueueTemplate.class).send("manual", "x", Duration.ZERO);
            Acknowledgment acknowledgment = (Acknowledgment) listener.next();
            assertThat(engine.stats("manual").inFlight()).isEqualTo(1);

            acknowledgment.acknowledge();

            await().untilAsserted(() -> {
                assertThat(engine.stats("manual").inFlight()).isZero();
                assertThat(engine.stats("manual").counters().acknowledged()).isEqualTo(1);
            });
        });
    }

    @Test
    void deliversBatches() {
        runner.withBean(EveryForm.class).withPropertyValues("batch.size=5").run(context -> {
            EveryForm listener = context.getBean(EveryForm.class);
            List<OutgoingMessage> messages = IntStream.range(0, 20)
                    .mapToObj(i -> OutgoingMessage.of("batch", new Order("o", i)))
                    .toList();

            context.getBean(DelayQueueTemplate.class).sendAll(messages);

            Set<Order> got = Collections.newSetFromMap(new ConcurrentHashMap<>());
            await().until(() -> {
                List<Order> batch = listener.batches.poll(1, TimeUnit.SECONDS);
                if (batch != null) {
                    assertThat(batch).hasSizeLessThanOrEqualTo(5);
                    got.addAll(batch);
                }
                return got.size() == 20;
            });
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void callsProxiesOfBothKinds(boolean classProxies) {
        runner.withUserConfiguration(classProxies ? ClassProxied.class : InterfaceProxied.class)
                .withPropertyValues("spring.aop.proxy-target-class=" + classProxies)
                .run(context -> {
                    context.getBean(DelayQueueTemplate.class).send("proxied", new Order("1", 7), Duration.ZERO);

                    assertThat(context.getBean(Seen.class).next()).isEqualTo("1 in a transaction: true");
                });
    }

    @Test
    void killsAMessageThatLacksAHeaderAfterItsLastAttempt() {
        runner.withBean(EveryForm.class)
                .withPropertyValues(
                        "delay-queue.topics.headers.max-attempts=2", "delay-queue.topics.headers.back-off.delay=10ms")
                .run(context -> {
                    context.getBean(DelayQueueTemplate.class).send("headers", "x", Duration.ZERO);

                    DelayQueueAdmin dead = context.getBean(DelayQueueAdmin.class);
                    await().untilAsserted(() -> assertThat(dead.messages("headers", MessageQuery.dead())
                                    .messages())
                            .hasSize(1));
                    assertThat(dead.messages("headers", MessageQuery.dead())
                                    .messages()
                                    .get(0)
                                    .lastError())
                            .satisfies(error -> assertThat(error.text()).contains("no header 'tenant'"));
                    assertThat(dead.messages("headers", MessageQuery.dead())
                                    .messages()
                                    .get(0)
                                    .failures())
                            .isEqualTo(2);
                });
    }

    /** Like System.exit, whose hook closes the context while the method waits for the end of the process. */
    @Test
    void buriesAMessageWhoseMethodEndsTheApplicationEachTime() {
        AtomicInteger runs = new AtomicInteger();
        BlockingQueue<String> closed = new LinkedBlockingQueue<>();
        ApplicationContextRunner ending = runner.withBean(Ending.class, runs, closed)
                .withPropertyValues(
                        "delay-queue.stop-timeout=100ms",
                        "delay-queue.defaults.max-lease-expirations=2",
                        "delay-queue.defaults.max-attempts=1");
        runner.run(context -> context.getBean(DelayQueueTemplate.class).send("ending", "x", Duration.ZERO));
        for (int i = 0; i < 2; i++) {
            ending.run(context -> assertThat(closed.poll(20, TimeUnit.SECONDS)).isNotNull());
        }
        assertThat(runs).hasValue(2);
        runner.run(context -> {
            DelayQueueAdmin dead = context.getBean(DelayQueueAdmin.class);
            assertThat(dead.messages("ending", MessageQuery.dead()).messages())
                    .singleElement()
                    .satisfies(message -> assertThat(message.lastError().text()).isEqualTo("LEASE_LOST"));
        });
    }

    static class Ending implements ApplicationContextAware {

        private final AtomicInteger runs;
        private final BlockingQueue<String> closed;
        private @Nullable ConfigurableApplicationContext context;

        Ending(AtomicInteger runs, BlockingQueue<String> closed) {
            this.runs = runs;
            this.closed = closed;
        }

        @Override
        public void setApplicationContext(ApplicationContext context) {
            this.context = (ConfigurableApplicationContext) context;
        }

        @DelayListener(topic = "ending")
        void end(String text) throws InterruptedException {
            runs.incrementAndGet();
            Thread hook = new Thread(() -> {
                Objects.requireNonNull(context).close();
                closed.add("closed");
            });
            hook.start();
            hook.join();
        }
    }

    @Test
    void readsAGenericPayloadThatIsSentWithItsType() {
        runner.withBean(Zoo.class).run(context -> {
            List<Animal> animals = List.of(new Cat(9), new Dog("Rex"));
            context.getBean(DelayQueueTemplate.class)
                    .send(OutgoingMessage.of("zoo", animals)
                            .payloadType(new ParameterizedTypeReference<List<Animal>>() {}.getType()));

            assertThat(context.getBean(Zoo.class).seen.poll(20, TimeUnit.SECONDS))
                    .isEqualTo(animals);
        });
    }

    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME)
    @JsonSubTypes({
        @JsonSubTypes.Type(value = Cat.class, name = "cat"),
        @JsonSubTypes.Type(value = Dog.class, name = "dog")
    })
    interface Animal {}

    record Cat(int lives) implements Animal {}

    record Dog(String name) implements Animal {}

    static class Zoo {

        final BlockingQueue<List<Animal>> seen = new LinkedBlockingQueue<>();

        @DelayListener(topic = "zoo")
        void visit(List<Animal> animals) {
            seen.add(animals);
        }
    }

    @Test
    void storesWhatABeanSendsBeforeItIsDestroyed() {
        try (RedisServer server = RedisServer.start()) {
            new ApplicationContextRunner()
                    .withUserConfiguration(Application.class)
                    .withBean(Leaving.class)
                    .withPropertyValues("spring.data.redis.url=" + server.uri(), "delay-queue.command-timeout=2s")
                    .run(context -> assertThat(context).hasNotFailed());

            try (RawRedis redis = server.connect()) {
                assertThat(redis.command("ZCARD", "dq:{leaving:0}:waiting")).isEqualTo(1L);
            }
        }
    }

    static class Leaving {

        private final DelayQueueTemplate template;

        Leaving(DelayQueueTemplate template) {
            this.template = template;
        }

        @PreDestroy
        void leave() {
            template.send("leaving", "bye", Duration.ofHours(1));
        }
    }

    @Test
    void readsJsonAsTheSettingsSay() {
        runner.withPropertyValues(
                        "delay-queue.json.deserialization.fail-on-null-for-primitives=true",
                        "delay-queue.json.enums.read-unknown-enum-values-as-null=true")
                .run(context -> {
                    PayloadCodec codec = context.getBean(PayloadCodec.class);
                    Bytes json = Bytes.of("{\"id\":\"1\"}".getBytes(UTF_8));

                    assertThatThrownBy(() -> codec.decode(json, Order.class))
                            .isInstanceOf(UndecodableMessageException.class);
                });
        runner.run(context -> assertThat(context.getBean(PayloadCodec.class)
                        .decode(Bytes.of("{\"id\":\"1\"}".getBytes(UTF_8)), Order.class))
                .isEqualTo(new Order("1", 0)));
    }

    @Test
    void triesAgainThenTellsTheApplicationOfTheDeath() {
        runner.withBean(Failing.class).run(context -> {
            Failing failing = context.getBean(Failing.class);

            context.getBean(DelayQueueTemplate.class)
                    .send(OutgoingMessage.of("failing", "x").id("poor"));

            DelayQueueEvent.Died death = failing.deaths.poll(20, TimeUnit.SECONDS);
            assertThat(death).satisfies(died -> {
                assertThat(died.id()).isEqualTo("poor");
                assertThat(died.reason()).contains("out of order");
            });
            assertThat(failing.attempts).containsExactly(1, 2, 3);
        });
    }

    @Test
    void doesNotTryAgainAfterAnExceptionThatIsNeverRetried() {
        runner.withBean(Failing.class).run(context -> {
            Failing failing = context.getBean(Failing.class);

            context.getBean(DelayQueueTemplate.class).send("hopeless", "x", Duration.ZERO);

            assertThat(failing.deaths.poll(20, TimeUnit.SECONDS)).isNotNull();
            assertThat(failing.attempts).containsExactly(1);
        });
    }

    @Test
    void handlesWhatIsUnderWayAndReleasesTheRestWhenTheApplicationEndsUnderLoad() {
        int messages = 300;
        Slow slow = new Slow();
        runner.withBean(Slow.class, () -> slow).run(context -> {
            context.getBean(DelayQueueTemplate.class)
                    .sendAll(IntStream.range(0, messages)
                            .mapToObj(i -> OutgoingMessage.of("slow", i))
                            .toList());
            await().until(() -> slow.runs.size() >= Slow.QUICK_RUNS);
            CompletableFuture<Void> end = CompletableFuture.runAsync(
                    context.getSourceApplicationContext(ConfigurableApplicationContext.class)::close);
            await().until(() -> waits("delay-queue-stop-slow"));
            slow.goOn.countDown();
            end.join();
        });
        int runBefore = slow.runs.size();
        assertThat(runBefore).isLessThan(messages);

        runner.run(context -> {
            TopicStats stats = context.getBean(DelayQueueEngine.class).stats("slow");
            assertThat(stats.inFlight()).isZero();
            assertThat(stats.counters().acknowledged()).isEqualTo(runBefore);
            assertThat(stats.waiting()).isEqualTo(messages - runBefore);
            assertThat(stats.counters().leaseExpirations()).isZero();
        });
        runner.withBean(Slow.class, () -> slow).run(context -> {
            await().atMost(Duration.ofSeconds(30)).until(() -> slow.runs.size() == messages);
            assertThat(slow.runs.values()).containsOnly(1);
        });
    }

    private static boolean waits(String threadName) {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread ->
                        thread.getName().equals(threadName) && thread.getState() == Thread.State.TIMED_WAITING);
    }

    @Test
    void goesOnAfterPauses() {
        runner.withBean(EveryForm.class).run(context -> {
            ConfigurableApplicationContext application =
                    context.getSourceApplicationContext(ConfigurableApplicationContext.class);
            DelayQueueTemplate template = context.getBean(DelayQueueTemplate.class);
            for (int i = 0; i < 3; i++) {
                application.pause();
                assertThat(context.getBean(DelayListenerRegistry.class).isRunning())
                        .isFalse();
                application.restart();

                template.send("plain", new Order("again", i), Duration.ofMillis(100));
                assertThat(context.getBean(EveryForm.class).next()).isEqualTo(new Order("again", i));
            }
        });
    }

    @Test
    void metersWhatHappensByTopic() {
        runner.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
                .withBean(EveryForm.class)
                .withBean(Failing.class)
                .run(context -> {
                    MeterRegistry meters = context.getBean(MeterRegistry.class);
                    DelayQueueTemplate template = context.getBean(DelayQueueTemplate.class);
                    template.send("plain", new Order("1", 1), Duration.ZERO);
                    template.send("plain", new Order("2", 2), Duration.ofHours(1));
                    template.send("hopeless", "x", Duration.ZERO);

                    await().untilAsserted(() -> {
                        assertThat(meters.get("delayqueue.deliveries")
                                        .tags("topic", "plain", "result", "completed")
                                        .counter()
                                        .count())
                                .isEqualTo(1);
                        assertThat(meters.get("delayqueue.dead")
                                        .tags("topic", "hopeless")
                                        .counter()
                                        .count())
                                .isEqualTo(1);
                        assertThat(meters.get("delayqueue.sent")
                                        .tags("topic", "plain", "result", "stored")
                                        .counter()
                                        .count())
                                .isEqualTo(2);
                        assertThat(meters.get("delayqueue.deliveries")
                                        .tags("topic", "hopeless", "result", "failed")
                                        .counter()
                                        .count())
                                .isEqualTo(1);
                        assertThat(meters.get("delayqueue.lateness")
                                        .tags("topic", "plain")
                                        .timer()
                                        .count())
                                .isEqualTo(1);
                        assertThat(meters.get("delayqueue.handling")
                                        .tags("topic", "plain")
                                        .timer()
                                        .count())
                                .isEqualTo(1);
                    });
                    await().atMost(Duration.ofSeconds(20))
                            .untilAsserted(() -> assertThat(meters.get("delayqueue.messages")
                                            .tags("topic", "plain", "state", "scheduled")
                                            .gauge()
                                            .value())
                                    .isEqualTo(1));
                });
    }

    @Test
    void isHealthyWithABacklogAndDeadLetters() {
        runner.withBean(Failing.class).run(context -> {
            context.getBean(DelayQueueTemplate.class).send("hopeless", "x", Duration.ZERO);
            assertThat(context.getBean(Failing.class).deaths.poll(20, TimeUnit.SECONDS))
                    .isNotNull();

            await().untilAsserted(() -> assertThat(context.getBean("delayQueueHealthIndicator", HealthIndicator.class)
                            .health())
                    .satisfies(health -> {
                        assertThat(health.getStatus()).isEqualTo(Status.UP);
                        assertThat(health.getDetails()).containsKeys("redis", "topics");
                    }));
        });
        runner.run(context -> assertThat(context.getBean("delayQueueHealthIndicator", HealthIndicator.class)
                        .health())
                .extracting(Health::getStatus)
                .isEqualTo(Status.UP));
    }

    @Test
    void tellsTheListenersAmongTheBeans() {
        BlockingQueue<DelayQueueEvent.Sent> sent = new LinkedBlockingQueue<>();
        DelayQueueListener bean = new DelayQueueListener() {
            @Override
            public void onSent(DelayQueueEvent.Sent event) {
                sent.add(event);
            }
        };
        runner.withBean(DelayQueueListener.class, () -> bean).run(context -> {
            context.getBean(DelayQueueTemplate.class).send("plain", "x", Duration.ZERO);

            assertThat(sent).singleElement().satisfies(event -> assertThat(event.topic())
                    .isEqualTo("plain"));
        });
    }

    @Test
    void runsOnVirtualThreadsWhereTheJvmHasThemAndBootSaysSo() {
        runner.withBean(EveryForm.class)
                .withPropertyValues("spring.threads.virtual.enabled=true")
                .run(context -> {
                    context.getBean(DelayQueueTemplate.class).send("plain", new Order("1", 1), Duration.ZERO);
                    EveryForm listener = context.getBean(EveryForm.class);
                    listener.next();

                    assertThat(String.valueOf(listener.thread.get()).startsWith("VirtualThread"))
                            .isEqualTo(Runtime.version().feature() >= 21);
                });
    }

    record Order(String id, int quantity) {}

    @Configuration(proxyBeanMethods = false)
    @EnableQueueAndDatabase
    static class Application {}

    static class EveryForm {

        private final BlockingQueue<Object> got = new LinkedBlockingQueue<>();
        private final BlockingQueue<List<Order>> batches = new LinkedBlockingQueue<>();
        private final AtomicReference<Thread> thread = new AtomicReference<>();

        @DelayListener(topic = "plain")
        void plain(Order order) {
            thread.set(Thread.currentThread());
            got.add(order);
        }

        @DelayListener(topic = "generic")
        void generic(Map<String, List<Order>> orders) {
            got.add(orders);
        }

        @DelayListener(topic = "message")
        void message(DelayMessage<List<Long>> message) {
            got.add(message);
        }

        @DelayListener(topic = "headers")
        void headers(
                String payload,
                @Header String tenant,
                @Header("tries") int number,
                @Headers Map<String, String> headers) {
            got.add(List.of(payload, tenant, number, new LinkedHashMap<>(headers)));
        }

        @DelayListener(topic = "manual")
        void manual(String payload, Acknowledgment acknowledgment) {
            got.add(acknowledgment);
        }

        @DelayListener(topic = "batch", batchSize = "${batch.size:10}")
        int batch(List<Order> orders) {
            batches.add(orders);
            return orders.size();
        }

        Object next() throws InterruptedException {
            Object next = got.poll(20, TimeUnit.SECONDS);
            assertThat(next).as("a message within 20 s").isNotNull();
            return next == null ? "nothing" : next;
        }
    }

    static class Seen {

        private final BlockingQueue<String> got = new LinkedBlockingQueue<>();

        void add(Order order) {
            got.add(order.id() + " in a transaction: " + TransactionSynchronizationManager.isActualTransactionActive());
        }

        String next() throws InterruptedException {
            return String.valueOf(got.poll(20, TimeUnit.SECONDS));
        }
    }

    /** Gets a class proxy because of @Transactional on a method that is in no interface. */
    static class TransactionalListener {

        private final Seen seen;

        TransactionalListener(Seen seen) {
            this.seen = seen;
        }

        @Transactional
        @DelayListener(topic = "proxied")
        protected void on(Order order) {
            seen.add(order);
        }
    }

    interface OrderListener {
        @DelayListener(topic = "proxied")
        void on(Order order);
    }

    static class InterfaceListener implements OrderListener {

        private final Seen seen;

        InterfaceListener(Seen seen) {
            this.seen = seen;
        }

        @Override
        @Transactional
        public void on(Order order) {
            seen.add(order);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ClassProxied {
        @Bean
        Seen seen() {
            return new Seen();
        }

        @Bean
        TransactionalListener listener(Seen seen) {
            return new TransactionalListener(seen);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class InterfaceProxied {
        @Bean
        Seen seen() {
            return new Seen();
        }

        @Bean
        OrderListener listener(Seen seen) {
            return new InterfaceListener(seen);
        }
    }

    static class Failing {

        private final List<Integer> attempts = Collections.synchronizedList(new ArrayList<>());
        private final BlockingQueue<DelayQueueEvent.Died> deaths = new LinkedBlockingQueue<>();

        @DelayListener(topic = "failing", maxAttempts = "3", backOff = "50ms", backOffMultiplier = "1")
        void failing(DelayMessage<String> message) {
            attempts.add(message.attempt());
            throw new IllegalStateException("out of order");
        }

        @DelayListener(topic = "hopeless", noRetryFor = IllegalStateException.class)
        void hopeless(DelayMessage<String> message) {
            failing(message);
        }

        @EventListener
        void onDeath(DelayQueueEvent.Died event) {
            deaths.add(event);
        }
    }

    /** Blocks with some messages until it is released. */
    static class Slow {

        static final int QUICK_RUNS = 20;

        private final Map<Integer, Integer> runs = new ConcurrentHashMap<>();
        private final CountDownLatch goOn = new CountDownLatch(1);

        @DelayListener(id = "slow", topic = "slow", concurrency = "8")
        void on(Integer number) throws InterruptedException {
            if (runs.size() >= QUICK_RUNS) {
                goOn.await();
            }
            runs.merge(number, 1, Integer::sum);
        }
    }
}
