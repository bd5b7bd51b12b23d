package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.store.StoreUnavailableException;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import io.easykit.test.TcpProxy;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Redis executed the command, but the line broke before the reply: the driver repeats the command, or gives up. */
class LostReplyIntegrationTests {

    private final TcpProxy line = TcpProxy.to(RedisServer.shared());
    private final Node healthy =
            Node.on(RedisServer.shared().host(), RedisServer.shared().port());
    private final CacheKey<String> key = CacheSpec.of("lost-reply", String.class)
            .withOptions(CacheOptions.builder()
                    .staleWindow(Duration.ZERO)
                    .loadLease(Duration.ofMillis(200))
                    .updateLease(Duration.ofMillis(500))
                    .build())
            .key(1);
    private boolean loseAfterMiss;

    private Node disturbed(DisconnectedBehavior behavior) {
        RedisServer.shared().flush();
        Node node = Node.on(line.host(), line.port(), behavior, Duration.ofSeconds(5), new CacheListener() {
            @Override
            public void onMiss(CacheKey<?> any) {
                if (loseAfterMiss) {
                    loseAfterMiss = false;
                    line.dropNextReply();
                }
            }
        });
        await().ignoreExceptions().until(() -> {
            node.store().loadScripts();
            return true;
        });
        return node;
    }

    @AfterEach
    void leaveNoKeyWithoutAnEnd() {
        healthy.close();
        line.close();
        try (RawRedis redis = RedisServer.shared().connect()) {
            assertThat(redis.command("PTTL", "ec:" + key.name())).isNotEqualTo(-1L);
        }
    }

    private String read(EasyCacheEngine cache, String value) {
        AtomicInteger loads = new AtomicInteger();
        String read = cache.fetch(key, () -> {
            loads.incrementAndGet();
            return value;
        });
        assertThat(loads).hasValueLessThanOrEqualTo(1);
        return read;
    }

    /** After any lost reply both nodes return the new value once an update has ended, and go on to do so. */
    private void assertNothingIsStale(Node node) {
        await().ignoreExceptionsInstanceOf(StoreUnavailableException.class)
                .untilAsserted(() -> node.store().invalidate(List.of(key), ""));
        assertThat(read(healthy.cache(), "new")).isEqualTo("new");
        await().until(() -> read(healthy.cache(), "newer").equals(read(node.cache(), "newer")));
    }

    @ParameterizedTest
    @EnumSource(
            value = DisconnectedBehavior.class,
            names = {"DEFAULT", "REJECT_COMMANDS"})
    void ofAReadCostsALoad(DisconnectedBehavior behavior) {
        try (Node node = disturbed(behavior)) {
            read(node.cache(), "old");
            line.dropNextReply();
            assertThat(read(node.cache(), "loaded")).isIn("old", "loaded");
            assertNothingIsStale(node);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = DisconnectedBehavior.class,
            names = {"DEFAULT", "REJECT_COMMANDS"})
    void ofAFetchCostsALoadLease(DisconnectedBehavior behavior) {
        try (Node node = disturbed(behavior)) {
            loseAfterMiss = true;
            assertThat(read(node.cache(), "old")).isEqualTo("old");
            assertNothingIsStale(node);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = DisconnectedBehavior.class,
            names = {"DEFAULT", "REJECT_COMMANDS"})
    void ofAStoreCostsNothing(DisconnectedBehavior behavior) {
        try (Node node = disturbed(behavior)) {
            assertThat(node.cache().fetch(key, () -> {
                        line.dropNextReply();
                        return "old";
                    }))
                    .isEqualTo("old");
            assertThat(read(healthy.cache(), "never")).isEqualTo("old");
            assertNothingIsStale(node);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = DisconnectedBehavior.class,
            names = {"DEFAULT", "REJECT_COMMANDS"})
    void ofAReleaseChangesNoException(DisconnectedBehavior behavior) {
        try (Node node = disturbed(behavior)) {
            IllegalStateException failure = new IllegalStateException("no database");
            assertThatThrownBy(() -> node.cache().fetch(key, () -> {
                        line.dropNextReply();
                        throw failure;
                    }))
                    .isSameAs(failure);
            assertNothingIsStale(node);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = DisconnectedBehavior.class,
            names = {"DEFAULT", "REJECT_COMMANDS"})
    void ofAPreparationCostsALeaseAtTheMost(DisconnectedBehavior behavior) {
        try (Node node = disturbed(behavior)) {
            read(node.cache(), "old");
            line.dropNextReply();
            assertThat(node.cache().<String, RuntimeException>update(List.of(key), () -> "done"))
                    .isEqualTo("done");
            await().until(() -> read(healthy.cache(), "new").equals("new"));
            assertNothingIsStale(node);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = DisconnectedBehavior.class,
            names = {"DEFAULT", "REJECT_COMMANDS"})
    void ofAnInvalidationCostsALeaseAtTheMost(DisconnectedBehavior behavior) {
        try (Node node = disturbed(behavior)) {
            read(node.cache(), "old");
            node.cache().<String, RuntimeException>update(List.of(key), () -> {
                line.dropNextReply();
                return "done";
            });
            assertThat(read(healthy.cache(), "new")).isEqualTo("new");
            assertNothingIsStale(node);
        }
    }

    @Test
    void ofAnOperationThatNobodyRepeatsIsAnUnavailableStore() {
        try (Node node = disturbed(DisconnectedBehavior.REJECT_COMMANDS)) {
            line.cut();
            for (int i = 0; i < 200; i++) {
                assertThatThrownBy(() -> node.store().read(key, 0))
                        .isInstanceOfSatisfying(
                                StoreUnavailableException.class,
                                away -> assertThat(away.isServerFailure()).isTrue());
            }
            line.heal();
            await().ignoreExceptions().until(() -> node.store().read(key, 0).value() == null);
        }
    }
}
