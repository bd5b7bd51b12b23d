package io.easykit.cache.redis;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.store.Envelope;
import io.easykit.redis.DedicatedConnections;
import io.easykit.test.RedisServer;
import io.easykit.test.TcpProxy;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The address of Redis moves to a replica that lacks the latest invalidations, too fast for the circuit breaker to notice. */
class LostInvalidationIntegrationTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private static final ClientResources RESOURCES = DefaultClientResources.create();

    private static final CacheSpec<Integer> SPEC = CacheSpec.of("stock", Integer.class);

    private final List<AutoCloseable> opened = new ArrayList<>();
    private final AtomicInteger database = new AtomicInteger();
    private final AtomicInteger updated = new AtomicInteger();
    private final Queue<String> violations = new ConcurrentLinkedQueue<>();
    private final CacheKey<Integer> key = SPEC.key("key");

    @AfterEach
    void close() throws Exception {
        for (int i = opened.size() - 1; i >= 0; i--) {
            opened.get(i).close();
        }
    }

    /**
     * Many keys are updated over a slow line, so that their repetition takes a while. The key that is read is the last one. No call
     * fails in between, which would open the circuit breaker.
     */
    @Test
    void readersOfTheNodeThatUpdatedNeverGetTheOldValue() throws Exception {
        RedisServer master = open(RedisServer.start());
        RedisServer replica = open(RedisServer.start());
        TcpProxy address = open(TcpProxy.to(master));
        EasyCacheEngine cache = cache(address.host(), address.port());
        List<CacheKey<?>> keys = new ArrayList<>(
                IntStream.range(0, 2_000).<CacheKey<?>>mapToObj(SPEC::key).toList());
        keys.add(key);
        for (int round = 0; round < 2; round++) {
            RedisEntryStore present = storeOn(master);
            await().until(() -> {
                cache.fetch(key, database::get);
                return present.read(key, 0).value() != null;
            });
            replica.replicaOf(master);
            replica.promote();
            RedisEntryStore promoted = storeOn(replica);
            Envelope old = requireNonNull(promoted.read(key, 0).value());
            int version = database.incrementAndGet();
            cache.invalidate(keys);
            updated.set(version);

            address.cut();
            await().until(() -> address.connections() == 0);
            address.retarget(replica);
            address.heal();
            address.delay(Duration.ofMillis(5));
            await().pollInterval(Duration.ofMillis(1)).until(() -> address.connections() > 0);
            Thread reader = new Thread(() -> readUntilInterrupted(cache), "reader");
            reader.start();
            await().pollInterval(Duration.ofMillis(5)).until(() -> !isStored(old, promoted));
            reader.interrupt();
            reader.join();
            address.delay(Duration.ZERO);

            RedisServer former = master;
            master = replica;
            replica = former;
        }
        assertThat(violations).isEmpty();
    }

    private RedisEntryStore storeOn(RedisServer server) {
        return new RedisEntryStore(connections(server.host(), server.port()), TIMEOUT);
    }

    private boolean isStored(Envelope value, RedisEntryStore store) {
        Envelope stored = store.read(key, 0).value();
        return stored != null && Arrays.equals(stored.toBytes(), value.toBytes());
    }

    private void readUntilInterrupted(EasyCacheEngine cache) {
        while (!Thread.currentThread().isInterrupted()) {
            int least = updated.get();
            int got = requireNonNull(cache.fetch(key, database::get));
            if (got < least) {
                violations.add(got + " after " + least);
            }
        }
    }

    private LettuceConnectionFactory connections(String host, int port) {
        LettuceConnectionFactory application = new LettuceConnectionFactory(
                new RedisStandaloneConfiguration(host, port),
                LettuceClientConfiguration.builder().clientResources(RESOURCES).build());
        LettuceConnectionFactory own = DedicatedConnections.copyOf(application, TIMEOUT);
        own.start();
        opened.add(own::destroy);
        return own;
    }

    private EasyCacheEngine cache(String host, int port) {
        EasyCacheEngine cache = EasyCacheEngine.builder(new JacksonValueCodec())
                .store(CacheSpec.DEFAULT_CLUSTER, new RedisEntryStore(connections(host, port), TIMEOUT))
                .build();
        opened.add(cache::stop);
        return cache;
    }

    private <T extends AutoCloseable> T open(T resource) {
        opened.add(resource);
        return resource;
    }
}
