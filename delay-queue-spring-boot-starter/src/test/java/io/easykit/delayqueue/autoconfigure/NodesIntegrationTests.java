package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.admin.FleetAdmin;
import io.easykit.delayqueue.admin.NodeInfo;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.listener.DelayListenerRegistry;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

/** Applications that see each other through Redis. */
class NodesIntegrationTests {

    private final RedisServer server = RedisServer.shared();

    private ApplicationContextRunner application(String name) {
        return new ApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(DataRedisAutoConfiguration.class, DelayQueueAutoConfiguration.class))
                .withPropertyValues(
                        "spring.data.redis.url=redis://" + server.host() + ":" + server.port(),
                        "spring.application.name=" + name,
                        "delay-queue.command-timeout=10s",
                        "delay-queue.heartbeat-interval=1s");
    }

    private static FleetAdmin fleet(ApplicationContext application) {
        return application.getBean(FleetAdmin.class);
    }

    private static boolean isPaused(ApplicationContext application) {
        return application
                .getBean(DelayListenerRegistry.class)
                .container("orders")
                .orElseThrow()
                .isPaused();
    }

    private static NodeInfo node(FleetAdmin fleet, String application) {
        return await().until(
                        () -> fleet.nodes().stream()
                                .filter(node -> node.application().equals(application))
                                .filter(node -> node.listeners().stream().allMatch(all -> all.places() > 0))
                                .findFirst(),
                        Optional::isPresent)
                .orElseThrow();
    }

    @Test
    void aSenderSeesTheConsumersPausesOneOfThemAndSeesThatItLeaves() {
        try (RawRedis redis = server.connect()) {
            redis.command("FLUSHALL");
        }
        application("sender").run(sender -> {
            FleetAdmin fleet = fleet(sender);
            application("one").withBean(Orders.class).run(one -> {
                application("two").withBean(Orders.class).run(two -> {
                    await().until(() -> fleet.nodes().size() == 3
                            && fleet.nodes().stream()
                                            .mapToInt(node -> node.places("orders"))
                                            .sum()
                                    == 6);
                    await().until(() -> fleet.topics().equals(List.of("orders")));
                    NodeInfo first = node(fleet, "one");
                    assertThat(first.versions()).containsKeys("java", "spring-boot");
                    assertThat(fleet.pauseListener(first.id(), "orders", "ops")).isTrue();
                    await().until(() -> isPaused(one));
                    assertThat(isPaused(two)).isFalse();
                    await().until(() -> fleet.nodes().stream()
                            .flatMap(node -> node.listeners().stream())
                            .map(NodeInfo.Listener::pause)
                            .filter(Objects::nonNull)
                            .anyMatch(pause -> pause.by().equals("ops")));

                    sender.getBean(DelayQueueTemplate.class).send("orders", "1", Duration.ZERO);
                    await().until(() -> two.getBean(Orders.class).got.equals(List.of("1")));
                    assertThat(one.getBean(Orders.class).got).isEmpty();
                });
                assertThat(fleet.nodes()).as("at once").hasSize(2);
            });
            assertThat(fleet.nodes()).hasSize(1);
        });
    }

    static class Orders {

        private final List<String> got = new CopyOnWriteArrayList<>();

        @DelayListener(topic = "orders", concurrency = "3")
        void on(String order) {
            got.add(order);
        }
    }
}
