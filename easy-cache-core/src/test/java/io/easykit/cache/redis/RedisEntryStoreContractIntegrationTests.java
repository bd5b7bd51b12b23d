package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.CacheKey;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.EntryStoreContract;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

class RedisEntryStoreContractIntegrationTests extends EntryStoreContract {

    private static Node node;
    private static RawRedis redis;

    @BeforeAll
    static void connect() {
        redis = RedisServer.shared().connect();
        node = Node.on(RedisServer.shared().host(), RedisServer.shared().port());
        node.store().loadScripts();
    }

    @AfterAll
    static void disconnect() {
        node.close();
        redis.close();
    }

    @BeforeEach
    void emptyRedis() {
        RedisServer.shared().flush();
    }

    @AfterEach
    void leaveNoKeyWithoutAnEnd() {
        redis.snapshot()
                .forEach((key, stored) -> assertThat(stored.pttl()).as(key).isNotEqualTo(-1));
    }

    @Override
    protected EntryStore store() {
        return node.store();
    }

    @Override
    protected void pass(Duration time) {
        long end = now() + time.toMillis();
        await().pollInterval(Duration.ofMillis(5)).until(() -> now() > end);
    }

    @Override
    protected boolean holds(CacheKey<?> key) {
        return Long.valueOf(1).equals(redis.command("EXISTS", "ec:" + key.name()));
    }

    private static long now() {
        List<?> time = (List<?>) redis.command("TIME");
        return number(time.get(0)) * 1000 + number(time.get(1)) / 1000;
    }

    private static long number(Object text) {
        return Long.parseLong(RawRedis.text((byte[]) text));
    }
}
