package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.jackson.JacksonPayloadCodec;
import io.easykit.delayqueue.redis.RedisQueueStore;
import io.easykit.test.ChildJvm;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** A process without a web server lives as long as its listeners run. */
class KeepAliveIntegrationTests {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int SIGTERM = 128 + 15;

    @BeforeEach
    void emptyRedis() {
        RedisServer.shared().flush();
    }

    @ParameterizedTest
    @ValueSource(strings = {"false", "true"})
    void runsListenersAfterMainHasReturnedAndEndsBySignal(String virtualThreads) {
        try (ChildJvm worker = start("--spring.threads.virtual.enabled=" + virtualThreads)) {
            worker.awaitLine(WorkerProcess.MAIN_RETURNS::equals, ChildJvm.START);

            send("late", Duration.ofSeconds(2));
            worker.awaitLine((WorkerProcess.HANDLED + "late")::equals, ChildJvm.START);
            assertThat(worker.isAlive()).isTrue();

            worker.terminate();
            assertThat(worker.waitFor(PATIENCE)).isEqualTo(SIGTERM);
        }
    }

    @Test
    void endsWhenItsListenersAreStoppedForGood() {
        try (ChildJvm worker = start()) {
            worker.awaitLine(WorkerProcess.MAIN_RETURNS::equals, ChildJvm.START);

            send("stop", Duration.ZERO);

            worker.awaitLine((WorkerProcess.HANDLED + "stop")::equals, ChildJvm.START);
            assertThat(worker.waitFor(PATIENCE)).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"--worker.listens=false", "--delay-queue.auto-startup=false"})
    void endsWithoutListenersThatRun(String setting) {
        try (ChildJvm sender = start(setting)) {
            sender.awaitLine(WorkerProcess.MAIN_RETURNS::equals, ChildJvm.START);
            assertThat(sender.waitFor(PATIENCE)).isZero();
        }
    }

    @Test
    void endsWhenItsStartFailsLate() {
        try (ChildJvm worker = start("--worker.fails=true")) {
            worker.awaitLine(line -> line.contains("no use"), ChildJvm.START);
            assertThat(worker.waitFor(PATIENCE)).isEqualTo(1);
        }
    }

    private static ChildJvm start(String... more) {
        List<String> settings = new ArrayList<>(List.of(more));
        settings.add("--spring.data.redis.url=" + RedisServer.shared().uri());
        settings.add("--delay-queue.command-timeout=5s");
        return ChildJvm.start(WorkerProcess.class, settings.toArray(String[]::new));
    }

    private static void send(String text, Duration delay) {
        RedisServer server = RedisServer.shared();
        LettuceConnectionFactory connections = new LettuceConnectionFactory(server.host(), server.port());
        connections.afterPropertiesSet();
        connections.start();
        try {
            DelayQueueTemplate template = DelayQueueEngine.builder(new RedisQueueStore(connections))
                    .codec(new JacksonPayloadCodec())
                    .build()
                    .template();
            template.send(WorkerProcess.TOPIC, text, delay);
        } finally {
            connections.destroy();
        }
    }
}
