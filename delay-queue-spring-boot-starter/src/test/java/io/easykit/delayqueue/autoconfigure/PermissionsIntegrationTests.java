package io.easykit.delayqueue.autoconfigure;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.SendResult;
import io.easykit.delayqueue.admin.ActionLog;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.FleetAdmin;
import io.easykit.delayqueue.admin.Job;
import io.easykit.delayqueue.admin.MessageQuery;
import io.easykit.delayqueue.admin.MessageSummary;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.listener.DelayListenerRegistry;
import io.easykit.delayqueue.store.AlertReport;
import io.easykit.delayqueue.store.Browse;
import io.easykit.delayqueue.store.Claim;
import io.easykit.delayqueue.store.Failure;
import io.easykit.delayqueue.store.Lease;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.Settlement;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

/** A Redis user with the documented permissions only. */
class PermissionsIntegrationTests {

    private static final Path DOCUMENTATION = Path.of("..", "docs", "delay-queue", "operations.md");

    @ParameterizedTest
    @CsvSource({"dq:, 0, ''", "shop:dq:, 1, ' +select'"})
    void doesEverythingWithTheDocumentedPermissions(String keyPrefix, int database, String more) throws IOException {
        String rule;
        try (var lines = Files.lines(DOCUMENTATION)) {
            rule = lines.filter(line -> line.startsWith("ACL SETUSER "))
                    .findFirst()
                    .orElseThrow()
                    .replace("dq:*", keyPrefix + "*");
        }
        try (RedisServer server = RedisServer.start();
                RawRedis redis = server.connect()) {
            redis.command((rule + more).split(" "));
            new ApplicationContextRunner()
                    .withConfiguration(
                            AutoConfigurations.of(DataRedisAutoConfiguration.class, DelayQueueAutoConfiguration.class))
                    .withBean(Orders.class)
                    .withPropertyValues(
                            "spring.data.redis.url=redis://shop:secret@" + server.host() + ":" + server.port() + "/"
                                    + database,
                            "spring.application.name=shop",
                            "delay-queue.key-prefix=" + keyPrefix.replace("shop", "${spring.application.name}"),
                            "delay-queue.command-timeout=10s",
                            "delay-queue.heartbeat-interval=1s",
                            "delay-queue.topics.orders.alerts.dead=0",
                            "delay-queue.topics.orders.dead-letter-retention=1d")
                    .run(context -> {
                        RedisStartupCheck check = context.getBean(RedisStartupCheck.class);
                        await().until(() -> check.report().isPresent());
                        assertThat(check.report().orElseThrow().details()).doesNotContainValue("unknown");
                        sendAndListen(context);
                        lookAfterTheDead(context);
                        settleEachWay(context.getBean(QueueBackend.class));
                        lookAtTheFleet(context.getBean(FleetAdmin.class), context.getBean(QueueBackend.class));
                        ActionLog actions = context.getBean(ActionLog.class);
                        actions.add("purge", 10);
                        assertThat(actions.read(0, 10)).containsExactly("purge");
                    });
            assertThat(redis.command("ACL", "LOG")).isEqualTo(List.of());
            redis.command("SELECT", String.valueOf(database));
            assertThat(redis.snapshot().keySet()).isNotEmpty().allMatch(key -> key.startsWith(keyPrefix));
        }
    }

    private static void sendAndListen(ApplicationContext context) {
        DelayQueueTemplate template = context.getBean(DelayQueueTemplate.class);
        template.send(OutgoingMessage.of("orders", "later").id("later").after(Duration.ofHours(1)));
        assertThat(template.reschedule("orders", "later", Duration.ofHours(2))).isEqualTo(ChangeOutcome.APPLIED);
        assertThat(template.find("orders", "later")).isPresent();
        assertThat(template.cancel("orders", "later")).isEqualTo(ChangeOutcome.APPLIED);
        SendResult unconfirmed = template.send(
                OutgoingMessage.of("orders", "good").waitForReplicas(new ReplicaWait(1, Duration.ofMillis(10))));
        assertThat(unconfirmed.isUnderReplicated()).isTrue();
        template.send(OutgoingMessage.of("orders", "bad").header("why", "test"));
        DelayQueueEngine engine = context.getBean(DelayQueueEngine.class);
        await().until(() -> engine.stats("orders").dead() == 1);
        await().until(() -> engine.stats("orders").inFlight() == 0);
        assertThat(context.getBean(Orders.class).got).containsExactlyInAnyOrder("good", "bad");
    }

    private static void lookAfterTheDead(ApplicationContext context) {
        context.getBean(DelayListenerRegistry.class).stop();
        DelayQueueAdmin deadLetters = context.getBean(DelayQueueAdmin.class);
        MessageSummary row =
                deadLetters.messages("orders", MessageQuery.dead()).messages().get(0);
        assertThat(deadLetters.groups("orders").groups()).hasSize(1);
        MessageInfo dead = deadLetters.find("orders", row.id()).orElseThrow().message();
        assertThat(new String(Objects.requireNonNull(dead.body()).array(), UTF_8))
                .isEqualTo("\"bad\"");
        assertThat(dead.headers()).containsEntry("why", "test");
        assertThat(deadLetters.purgeOlderThan("orders", Duration.ofDays(30))).isZero();
        assertThat(deadLetters.redrive("orders", dead.id(), dead.diedAt())).isTrue();
        Job job = deadLetters.redriveAll("orders", 50);
        await().until(() -> deadLetters.job(job.id()).orElseThrow().state() == Job.State.DONE);
        assertThat(deadLetters.jobs()).hasSize(1);
        assertThat(deadLetters.stopJob(job.id())).isFalse();
        assertThat(deadLetters.purge("orders", dead.id(), dead.diedAt())).isFalse();
    }

    private static void settleEachWay(QueueBackend store) {
        ShardKey shard = new ShardKey("orders", 0);
        Lease released = claim(store, shard, 1);
        assertThat(store.extend(shard, List.of(released), Duration.ofMinutes(1)))
                .containsExactly(Settlement.APPLIED);
        assertThat(store.release(shard, List.of(released))).containsExactly(Settlement.APPLIED);
        Lease failed = claim(store, shard, 2);
        assertThat(store.fail(shard, List.of(new Failure(failed, Duration.ZERO, "no"))))
                .containsExactly(Settlement.APPLIED);
        claim(store, shard, 3);
        await().until(() -> !store.reap(shard, 10, 1, Duration.ZERO).lost().isEmpty());
        assertThat(store.find(shard, "unknown")).isEmpty();
        assertThat(store.browse(shard, new Browse(State.DEAD, false, null, 10, 512))
                        .total())
                .isEqualTo(1);
        assertThat(store.purge(shard, Duration.ZERO, 10)).isEqualTo(1);
        assertThat(store.acknowledge(shard, List.of(failed))).containsExactly(Settlement.GONE);
        assertThat(store.pause(shard, "ops")).isTrue();
        assertThat(store.resume(shard)).isTrue();
        assertThat(store.raise(shard, "test", new AlertReport("a", false))).isTrue();
        assertThat(store.raise(shard, "test", new AlertReport("a", true))).isFalse();
        assertThat(store.resolve(shard, "test", new AlertReport("b", false))).isTrue();
        assertThat(store.resolve(shard, "test", new AlertReport("b", true))).isFalse();
        store.checkWrites(shard);
    }

    private static void lookAtTheFleet(FleetAdmin fleet, QueueBackend store) {
        await().until(() -> fleet.topics().contains("orders"));
        String node = fleet.nodes().get(0).id();
        assertThat(fleet.pauseListener(node, "orders", "ops")).isTrue();
        assertThat(fleet.pause("orders", "ops")).isEqualTo(1);
        assertThat(fleet.resume("orders")).isEqualTo(1);
        assertThat(fleet.snapshot().topics()).hasSize(1);
        // The heartbeat takes one a minute: this one is the first, or comes after it.
        store.fleet().sample(new ShardKey("orders", 0));
        assertThat(fleet.series("orders", Duration.ofHours(1)).points()).isNotEmpty();
        assertThat(store.fleet().sample(new ShardKey("unused", 0))).isTrue();
        store.fleet().sharedSnapshot(Duration.ofSeconds(1));
        store.fleet().shareSnapshot(fleet.snapshot(), Duration.ofSeconds(1));
    }

    private static Lease claim(QueueBackend store, ShardKey shard, int request) {
        Claim claim = new Claim("test", request, 1, 1, Duration.ofMillis(500), List.of());
        return await().until(
                        () -> store.claim(shard, claim).deliveries().stream().findFirst(), Optional::isPresent)
                .orElseThrow()
                .lease();
    }

    static class Orders {

        private final Set<String> got = ConcurrentHashMap.newKeySet();

        @DelayListener(topic = "orders", maxAttempts = "1")
        void on(String order) {
            got.add(order);
            if (order.equals("bad")) {
                throw new IllegalStateException(order);
            }
        }
    }
}
