package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.DeadLetter;
import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.MessageQuery;
import io.easykit.delayqueue.admin.MessageSummary;
import io.easykit.delayqueue.annotation.DeadLetterListener;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.listener.DelayListenerRegistry;
import io.easykit.test.RedisServer;
import io.easykit.test.StartFailure;
import java.sql.Timestamp;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.transaction.annotation.Transactional;

/** Methods that get dead letters, with the example of {@code docs/delay-queue/listeners.md}. */
class DeadLetterListenerIntegrationTests {

    private static final Duration TWO_CHECKS = Duration.ofSeconds(30);

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withUserConfiguration(Application.class)
            .withPropertyValues(
                    "spring.data.redis.url=" + RedisServer.shared().uri(),
                    "spring.datasource.generate-unique-name=true",
                    "delay-queue.command-timeout=2s");

    @BeforeEach
    void emptyRedis() {
        RedisServer.shared().flush();
    }

    @Test
    void storesDeadLettersInATable() {
        runner.withBean(Charges.class).run(context -> {
            JdbcClient jdbc = context.getBean(JdbcClient.class);
            jdbc.sql("create table failed_charge (id varchar(256), died_at timestamp(3), order_id bigint, error text,"
                            + " primary key (id, died_at))")
                    .update();
            Charges charges = context.getBean(Charges.class);

            context.getBean(DelayQueueTemplate.class)
                    .send(OutgoingMessage.of("charge", new Charge(918)).id("charge-918"));

            await().atMost(TWO_CHECKS)
                    .untilAsserted(() -> assertThat(rows(jdbc)).singleElement().satisfies(row -> {
                        assertThat(row).containsEntry("id", "charge-918").containsEntry("order_id", 918L);
                        assertThat((String) row.get("error"))
                                .startsWith("java.lang.IllegalStateException: card expired");
                    }));
            assertThat(charges.announcements()).isEqualTo(2);
            List<MessageSummary> dead = context.getBean(DelayQueueAdmin.class)
                    .messages("charge", MessageQuery.dead())
                    .messages();
            assertThat(dead).extracting(MessageSummary::id).containsExactly("charge-918");
        });
    }

    @Test
    void takesWhatListenersTake() {
        runner.withBean(EveryForm.class)
                .withPropertyValues("delay-queue.auto-startup=false")
                .run(context -> {
                    DelayListenerRegistry registry = context.getBean(DelayListenerRegistry.class);
                    context.getBean(DelayQueueTemplate.class)
                            .send(OutgoingMessage.of("forms", List.of(1L))
                                    .id("a")
                                    .header("tenant", "acme"));
                    registry.container("forms").orElseThrow().start();
                    await().atMost(TWO_CHECKS)
                            .until(() -> context.getBean(DelayQueueAdmin.class)
                                            .stats("forms")
                                            .dead()
                                    == 1);
                    // The first check announces the dead letters that are there.
                    registry.container("forms.dead-letters").orElseThrow().start();

                    List<Object> seen = context.getBean(EveryForm.class).seen;
                    await().atMost(TWO_CHECKS)
                            .untilAsserted(() -> assertThat(seen).containsExactly("a", List.of(1L), "acme"));
                });
    }

    @Test
    void isAListenerOfItsOwnTopic() {
        runner.withBean(EveryForm.class)
                .withPropertyValues(
                        "delay-queue.auto-startup=false", "delay-queue.topics[forms.dead-letters].concurrency=3")
                .run(context -> assertThat(context.getBean(DelayListenerRegistry.class)
                                .container("forms.dead-letters")
                                .orElseThrow()
                                .endpoint())
                        .satisfies(endpoint -> {
                            assertThat(endpoint.topic()).isEqualTo("forms.dead-letters");
                            assertThat(endpoint.deadLettersOf()).isEqualTo("forms");
                            assertThat(endpoint.concurrency()).isEqualTo(3);
                        }));
    }

    @Test
    void refusesOtherParameters() {
        runner.withBean("orders", WrongParameters.class).run(context -> assertThat(context)
                .getFailure()
                .satisfies(failure -> assertThat(StartFailure.analysis(failure)).satisfies(analysis -> {
                    assertThat(analysis.getDescription())
                            .contains("it gets dead letters, and takes java.lang.String.")
                            .contains("it gets dead letters, and takes io.easykit.delayqueue.DeadLetter.")
                            .contains("it takes dead letters, and would get the messages of the topic.")
                            .contains("dead letters of it are not announced");
                    assertThat(analysis.getAction())
                            .contains("Declare DeadLetter<T> as its parameter")
                            .contains("Use @DeadLetterListener");
                })));
    }

    /** It would take announcements from the other method, and acknowledge them. */
    static class Competing {

        @DelayListener(topic = "charge.dead-letters")
        void plain(Charge charge) {}

        @DeadLetterListener(topic = "charge", id = "dead")
        void dead(DeadLetter<Charge> dead) {}
    }

    @Test
    void refusesAPlainListenerOfTheAnnouncements() {
        runner.withBean(Competing.class).run(context -> assertThat(context)
                .getFailure()
                .satisfies(failure -> assertThat(StartFailure.analysis(failure)).satisfies(analysis -> {
                    assertThat(analysis.getDescription())
                            .contains("DeadLetter<" + Charge.class.getTypeName() + ">")
                            .contains("a message goes to one of them");
                    assertThat(analysis.getAction()).contains("Use one type in both, or a separate topic");
                })));
    }

    private static List<Map<String, Object>> rows(JdbcClient jdbc) {
        return jdbc.sql("select * from failed_charge").query().listOfRows();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableQueueAndDatabase
    static class Application {}

    record Charge(long orderId) {}

    static class Charges {

        private final JdbcClient jdbc;
        private final AtomicInteger announcements = new AtomicInteger();

        Charges(JdbcClient jdbc) {
            this.jdbc = jdbc;
        }

        /** A method, because the bean has a proxy. */
        public int announcements() {
            return announcements.get();
        }

        @DelayListener(topic = "charge", maxAttempts = "2", backOff = "1ms")
        public void charge(Charge charge) {
            throw new IllegalStateException("card expired");
        }

        @DeadLetterListener(topic = "charge", backOff = "1ms")
        @Transactional
        public void chargeFailed(DeadLetter<Charge> dead) {
            Charge charge = dead.payload();
            jdbc.sql("merge into failed_charge (id, died_at, order_id, error) values (?, ?, ?, ?)")
                    .params(
                            dead.id(),
                            Timestamp.from(dead.diedAt()),
                            charge == null ? null : charge.orderId(),
                            dead.lastError())
                    .update();
            if (announcements.incrementAndGet() == 1) {
                throw new IllegalStateException("the transaction rolls back, and the announcement comes again");
            }
        }
    }

    static class EveryForm {

        private final List<Object> seen = new CopyOnWriteArrayList<>();

        @DelayListener(topic = "forms", noRetryFor = IllegalStateException.class)
        void fail(DelayMessage<List<Long>> message) {
            message.acknowledgment().reject(new IllegalStateException());
        }

        @DeadLetterListener(topic = "forms")
        void dead(
                DeadLetter<List<Long>> dead,
                DelayMessage<DeadLetter<List<Long>>> announcement,
                @Header("tenant") String tenant) {
            seen.add(dead.id());
            seen.add(String.valueOf(announcement.payload().payload()).equals("[1]") ? dead.payload() : "another");
            seen.add(tenant);
        }
    }

    static class WrongParameters {

        @DeadLetterListener(topic = "one")
        void one(String payload) {}

        @SuppressWarnings("rawtypes")
        @DeadLetterListener(topic = "two")
        void two(DeadLetter dead) {}

        @DelayListener(topic = "three")
        void three(DeadLetter<String> dead) {}

        @DeadLetterListener(topic = "four.dead-letters")
        void four(DeadLetter<String> dead) {}
    }
}
