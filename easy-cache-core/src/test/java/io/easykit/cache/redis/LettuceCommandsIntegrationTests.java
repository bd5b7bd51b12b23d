package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.store.EntryStore.Snapshot;
import io.easykit.cache.store.StoreUnavailableException;
import io.easykit.test.RedisServer;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

class LettuceCommandsIntegrationTests {

    private final CacheKey<String> key = CacheSpec.of("lettuce", String.class).key("never stored");

    @Test
    void goesOnAfterItsFactoryWasStoppedAndStarted() {
        try (Node node =
                Node.on(RedisServer.shared().host(), RedisServer.shared().port())) {
            assertThat(node.store().read(key, 0)).isEqualTo(Snapshot.NOTHING);
            node.factory().stop();
            assertThatThrownBy(() -> node.store().read(key, 0)).isInstanceOf(StoreUnavailableException.class);
            node.factory().start();
            assertThat(node.store().read(key, 0)).isEqualTo(Snapshot.NOTHING);
        }
    }

    @Test
    void saysThatTheStoreIsUnavailableHoweverSoonAnAttemptToConnectFails() {
        try (Node node =
                Node.on(RedisServer.shared().host(), RedisServer.shared().port())) {
            node.factory().stop();
            for (int i = 0; i < 500; i++) {
                assertThatThrownBy(() -> node.store().read(key, 0)).isInstanceOf(StoreUnavailableException.class);
            }
        }
    }

    @Test
    void leavesAFactoryThatSharesNoConnectionToTheOtherWay() {
        LettuceConnectionFactory factory = new LettuceConnectionFactory(
                RedisServer.shared().host(), RedisServer.shared().port());
        factory.setShareNativeConnection(false);
        factory.afterPropertiesSet();
        factory.start();
        RedisEntryStore store = new RedisEntryStore(factory, Duration.ofSeconds(5));
        for (int i = 0; i < 3; i++) {
            assertThat(store.read(key, 0)).isEqualTo(Snapshot.NOTHING);
        }
        factory.destroy();
    }
}
