package io.easykit.delayqueue.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.Subscription;
import io.easykit.delayqueue.store.WakeupListener;
import io.easykit.redis.OwnConnections;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisCluster;
import io.easykit.test.RedisServer;
import io.easykit.test.TcpProxy;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** WakeupSubscriptions over a driver that does everything on threads of its own, and over one whose subscriptions keep their thread. */
class WakeupSubscriptionsIntegrationTests {

    /** Time after which a close no longer waits for the end of the subscriptions. */
    private static final Duration GIVES_UP = Duration.ofSeconds(1);

    private static final Duration ONE_SECOND = Duration.ofSeconds(1);

    private static final List<ShardKey> SHARDS =
            IntStream.range(0, 3).mapToObj(i -> new ShardKey("t", i)).toList();

    private final Set<Thread> threadsBefore = Thread.getAllStackTraces().keySet();
    private final RedisServer server = RedisServer.start();
    private final Set<ShardKey> heard = ConcurrentHashMap.newKeySet();
    private final RedisKeys keys = new RedisKeys("dq:");

    enum Driver {
        LETTUCE,
        JEDIS;

        RedisConnectionFactory connect(RedisServer server) {
            return connect(server.host(), server.port());
        }

        RedisConnectionFactory connect(String host, int port) {
            RedisStandaloneConfiguration redis = new RedisStandaloneConfiguration(host, port);
            if (this == LETTUCE) {
                LettuceConnectionFactory lettuce = new LettuceConnectionFactory(redis);
                lettuce.afterPropertiesSet();
                lettuce.start();
                return lettuce;
            }
            JedisConnectionFactory jedis = new JedisConnectionFactory(redis);
            jedis.afterPropertiesSet();
            OwnConnections own = OwnConnections.of(jedis, Duration.ofSeconds(1), "test");
            own.start();
            return own.factory();
        }
    }

    @AfterEach
    void close() {
        server.close();
    }

    private Subscription listen(WakeupSubscriptions wakeups, ShardKey shard) {
        return wakeups.subscribe(List.of(shard), (of, due) -> {
            if (due.isAfter(Instant.EPOCH)) {
                heard.add(of);
            }
        });
    }

    private boolean allAreHeard(List<ShardKey> shards) {
        try (RawRedis redis = server.connect()) {
            shards.forEach(shard -> redis.command("PUBLISH", keys.wakeup(shard), "1000"));
        }
        return heard.containsAll(shards);
    }

    /** Threads of stores of other classes do not count. */
    private boolean runs(String thread) {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(each -> each.getName().startsWith(thread) && !threadsBefore.contains(each));
    }

    private static void destroy(RedisConnectionFactory connections) throws Exception {
        ((DisposableBean) connections).destroy();
    }

    @ParameterizedTest
    @EnumSource
    void hearsAllShardsAlsoAfterARestartAndLeavesNoThread(Driver driver) throws Exception {
        RedisConnectionFactory connections = driver.connect(server);
        WakeupSubscriptions wakeups = new WakeupSubscriptions(connections, keys);
        List<Subscription> subscriptions =
                SHARDS.stream().map(shard -> listen(wakeups, shard)).toList();
        await().until(() -> allAreHeard(SHARDS));

        subscriptions.get(0).close();
        server.restart();
        heard.clear();
        await().atMost(Duration.ofSeconds(20)).ignoreExceptions().until(() -> {
            boolean unused = allAreHeard(SHARDS);
            return heard.containsAll(SHARDS.subList(1, 3));
        });
        assertThat(heard).doesNotContain(SHARDS.get(0));

        long begin = System.nanoTime();
        subscriptions.forEach(Subscription::close);
        wakeups.close();
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(GIVES_UP.multipliedBy(10));
        await().until(() -> !runs("delay-queue-wakeups"));
        destroy(connections);
    }

    @ParameterizedTest
    @EnumSource
    void waitsInSilenceForARedisThatIsAwayWhenAListenerStarts(Driver driver) throws Exception {
        RedisConnectionFactory connections = driver.connect(server);
        WakeupSubscriptions wakeups = new WakeupSubscriptions(connections, keys);
        ShardKey shard = SHARDS.get(0);
        Subscription first = listen(wakeups, shard);
        await().until(() -> allAreHeard(List.of(shard)));
        first.close();
        server.kill();
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        Logger logger = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
        logger.addAppender(log);

        Subscription second = listen(wakeups, shard);
        long begin = System.nanoTime();
        await().until(() -> System.nanoTime() - begin > 1_500_000_000L);
        server.restart();
        heard.clear();
        await().atMost(Duration.ofSeconds(20)).ignoreExceptions().until(() -> allAreHeard(List.of(shard)));

        logger.detachAppender(log);
        assertThat(log.list)
                .filteredOn(event -> event.getLevel() == Level.ERROR)
                .isEmpty();
        second.close();
        wakeups.close();
        destroy(connections);
    }

    @Test
    void subscribesAfterAnErrorSuchAsOfAThreadThatCouldNotBeMade() throws Exception {
        AtomicInteger errors = new AtomicInteger(1);
        LettuceConnectionFactory connections =
                new LettuceConnectionFactory(new RedisStandaloneConfiguration(server.host(), server.port())) {
                    @Override
                    public RedisConnection getConnection() {
                        if (errors.getAndDecrement() > 0) {
                            throw new OutOfMemoryError("unable to create native thread");
                        }
                        return super.getConnection();
                    }
                };
        connections.afterPropertiesSet();
        connections.start();
        WakeupSubscriptions wakeups = new WakeupSubscriptions(connections, keys);
        Subscription subscription = listen(wakeups, SHARDS.get(0));

        await().atMost(Duration.ofSeconds(20)).until(() -> allAreHeard(SHARDS.subList(0, 1)));
        subscription.close();
        wakeups.close();
        destroy(connections);
    }

    @Test
    void aSubscriptionThatGotNoThreadIsNotMadeLater() throws Exception {
        RedisConnectionFactory connections = Driver.LETTUCE.connect(server);
        AtomicInteger errors = new AtomicInteger(1);
        WakeupSubscriptions wakeups = new WakeupSubscriptions(connections, keys, GIVES_UP, task -> {
            if (errors.getAndDecrement() > 0) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            return new Thread(task);
        });
        assertThatThrownBy(() -> listen(wakeups, SHARDS.get(0))).isInstanceOf(OutOfMemoryError.class);

        Subscription other = listen(wakeups, SHARDS.get(1));
        await().until(() -> allAreHeard(SHARDS.subList(1, 2)));

        heard.clear();
        await().until(() -> allAreHeard(SHARDS.subList(0, 2)) || heard.contains(SHARDS.get(1)));
        assertThat(heard).doesNotContain(SHARDS.get(0));
        other.close();
        wakeups.close();
        destroy(connections);
    }

    /** Its caller subscribes again each second, maybe for hours. */
    @Test
    void aSubscriptionThatGotNoThreadKeepsNoMemory() throws Exception {
        RedisConnectionFactory connections = Driver.LETTUCE.connect(server);
        AtomicBoolean hasThreads = new AtomicBoolean();
        WakeupSubscriptions wakeups = new WakeupSubscriptions(connections, keys, GIVES_UP, task -> {
            if (!hasThreads.get()) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            return new Thread(task);
        });

        Reference<WakeupListener> listener = subscribeInVain(wakeups);

        await().until(() -> {
            System.gc();
            return listener.get() == null;
        });
        assertThatThrownBy(wakeups::close).isInstanceOf(OutOfMemoryError.class);
        hasThreads.set(true);
        assertThat(wakeups.subscribe(SHARDS, new Forgotten()).sinceProof()).isEqualTo(Subscription.UNPROVEN);
        destroy(connections);
    }

    @Test
    void aCloseThatGetsNoThreadTakesEffectWithTheNextThread() throws Exception {
        RedisConnectionFactory connections = Driver.LETTUCE.connect(server);
        AtomicBoolean hasThreads = new AtomicBoolean(true);
        List<Thread> threads = new CopyOnWriteArrayList<>();
        WakeupSubscriptions wakeups = new WakeupSubscriptions(connections, keys, GIVES_UP, task -> {
            if (!hasThreads.get()) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            Thread thread = new Thread(task);
            threads.add(thread);
            return thread;
        });
        Subscription first = listen(wakeups, SHARDS.get(0));
        await().until(() -> allAreHeard(SHARDS.subList(0, 1)));
        await().until(() -> threads.stream().noneMatch(Thread::isAlive));
        hasThreads.set(false);
        assertThatThrownBy(first::close).isInstanceOf(OutOfMemoryError.class);
        hasThreads.set(true);

        Subscription second = listen(wakeups, SHARDS.get(1));
        await().until(() -> allAreHeard(SHARDS.subList(1, 2)));

        heard.clear();
        await().until(() -> allAreHeard(SHARDS.subList(0, 2)) || heard.contains(SHARDS.get(1)));
        assertThat(heard).doesNotContain(SHARDS.get(0));
        second.close();
        wakeups.close();
        destroy(connections);
    }

    /** As when a driver reports that the connection is lost. A single shard has no proof that would start the thread. */
    @ParameterizedTest
    @EnumSource
    void aTaskThatGetsNoThreadIsRunWhenThereIsOne(Driver driver) throws Exception {
        RedisConnectionFactory connections = driver.connect(server);
        AtomicBoolean hasThreads = new AtomicBoolean(true);
        List<Thread> threads = new CopyOnWriteArrayList<>();
        WakeupSubscriptions wakeups = new WakeupSubscriptions(connections, keys, GIVES_UP, task -> {
            if (!hasThreads.get()) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            Thread thread = new Thread(task);
            threads.add(thread);
            return thread;
        });
        List<ShardKey> one = SHARDS.subList(0, 1);
        Subscription only = listen(wakeups, one.get(0));
        await().until(() -> allAreHeard(one));
        await().until(() -> threads.stream().noneMatch(Thread::isAlive));
        int before = threads.size();
        hasThreads.set(false);
        assertThatThrownBy(wakeups::reconnect).isInstanceOf(OutOfMemoryError.class);
        assertThat(only.sinceProof()).isEqualTo(Subscription.UNPROVEN);
        hasThreads.set(true);

        await().until(() -> only.sinceProof().equals(Subscription.UNPROVEN) && threads.size() > before);
        heard.clear();
        await().until(() -> allAreHeard(one));
        only.close();
        wakeups.close();
        destroy(connections);
    }

    private static final class Forgotten implements WakeupListener {
        @Override
        public void onEarlierDue(ShardKey shard, Instant due) {}
    }

    private static Reference<WakeupListener> subscribeInVain(WakeupSubscriptions wakeups) {
        WakeupListener listener = new Forgotten();
        assertThatThrownBy(() -> wakeups.subscribe(SHARDS, listener)).isInstanceOf(OutOfMemoryError.class);
        return new WeakReference<>(listener);
    }

    @ParameterizedTest
    @EnumSource
    void saysOnceAndInOneLineThatRedisRefusesSubscriptions(Driver driver) throws Exception {
        try (RawRedis redis = server.connect()) {
            redis.command("ACL", "SETUSER", "default", "resetchannels");
        }
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        Logger logger = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
        logger.addAppender(log);
        RedisConnectionFactory connections = driver.connect(server);
        WakeupSubscriptions wakeups = new WakeupSubscriptions(connections, keys);

        List<Subscription> subscriptions = IntStream.range(0, 16)
                .mapToObj(i -> listen(wakeups, new ShardKey("t", i)))
                .toList();
        wakeups.reconnect();
        await().until(() -> List.copyOf(log.list).stream()
                .anyMatch(event -> event.getLevel().isGreaterOrEqual(Level.WARN)));
        subscriptions.forEach(Subscription::close);
        wakeups.close();

        logger.detachAppender(log);
        assertThat(log.list)
                .filteredOn(event -> event.getLevel().isGreaterOrEqual(Level.WARN))
                .singleElement()
                .satisfies(event -> {
                    assertThat(event.getFormattedMessage()).contains("Let its user subscribe to dq:*");
                    assertThat(event.getThrowableProxy()).isNull();
                });
        destroy(connections);
    }

    @Test
    void saysOnceThatTheServersHaveNoSubscriptions() {
        LettuceConnectionFactory connections =
                new LettuceConnectionFactory(new RedisStaticMasterReplicaConfiguration(server.host(), server.port()));
        connections.afterPropertiesSet();
        connections.start();
        WakeupSubscriptions wakeups = new WakeupSubscriptions(connections, keys);
        ListAppender<ILoggingEvent> log = logOf(WakeupSubscriptions.class);

        listen(wakeups, SHARDS.get(0));
        await().until(() -> !log.list.isEmpty());
        listen(wakeups, SHARDS.get(1));
        wakeups.reconnect();
        wakeups.close();

        assertThat(log.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .singleElement()
                .asString()
                .contains("no subscriptions for static master and replica nodes");
        connections.destroy();
    }

    @ParameterizedTest
    @EnumSource
    void saysOnceThatRedisRefusesToPublish(Driver driver) throws Exception {
        RedisConnectionFactory connections = driver.connect(server);
        AtomicLong nanos = new AtomicLong();
        WakeupProof proof = new WakeupProof(connections, keys, nanos::get, () -> {});
        ListAppender<ILoggingEvent> log = logOf(WakeupProof.class);
        try (RawRedis redis = server.connect()) {
            redis.command("ACL", "SETUSER", "default", "-publish");
            proof.send();
            proof.send();
            redis.command("ACL", "SETUSER", "default", "+publish");
            proof.send();
            redis.command("ACL", "SETUSER", "default", "-publish");
            proof.send();
        }

        assertThat(log.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .hasSize(2)
                .allMatch(line -> line.contains("Let its user subscribe to dq:*, and publish there"));
        destroy(connections);
    }

    /** Permissions would not mend it, and other lines name what does. */
    @ParameterizedTest
    @EnumSource
    void saysNothingOfPublicationsWhileTheLoginIsRefused(Driver driver) throws Exception {
        ListAppender<ILoggingEvent> log = logOf(WakeupProof.class);
        try (RedisServer closed = RedisServer.start("--requirepass", "secret")) {
            RedisConnectionFactory connections = driver.connect(closed);
            WakeupProof proof = new WakeupProof(connections, keys, System::nanoTime, () -> {});
            proof.send();
            destroy(connections);
        }

        assertThat(log.list).isEmpty();
    }

    private ListAppender<ILoggingEvent> logOf(Class<?> type) {
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        ((Logger) LoggerFactory.getLogger(type)).addAppender(log);
        return log;
    }

    @ParameterizedTest
    @EnumSource
    void subscribesAgainAfterARefusalBesideASubscriptionThatHolds(Driver driver) throws Exception {
        RedisConnectionFactory connections = driver.connect(server);
        WakeupSubscriptions wakeups = new WakeupSubscriptions(connections, keys);
        Logger logger = (Logger) LoggerFactory.getLogger(WakeupSubscriptions.class);
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        logger.addAppender(log);
        try (RawRedis redis = server.connect()) {
            redis.command("ACL", "SETUSER", "default", "resetchannels", "&dq:echo:*", "&" + keys.wakeup(SHARDS.get(0)));
            listen(wakeups, SHARDS.get(0));
            await().until(() -> allAreHeard(SHARDS.subList(0, 1)));
            listen(wakeups, SHARDS.get(1));
            await().until(() -> !log.list.isEmpty());
            redis.command("ACL", "SETUSER", "default", "allchannels");
        }
        heard.clear();

        wakeups.reconnect();

        await().until(() -> allAreHeard(SHARDS.subList(0, 2)));
        logger.detachAppender(log);
        wakeups.close();
        destroy(connections);
    }

    @ParameterizedTest
    @EnumSource
    void provesThatWakeupsArriveAndSaysWhenTheyMayNot(Driver driver) throws Exception {
        RedisConnectionFactory connections = driver.connect(server);
        WakeupSubscriptions wakeups = new WakeupSubscriptions(connections, keys);
        AtomicInteger gaps = new AtomicInteger();
        Subscription first = wakeups.subscribe(List.of(SHARDS.get(0)), (of, due) -> {});
        Subscription second = wakeups.subscribe(List.of(SHARDS.get(1)), (of, due) -> {
            if (due.equals(Instant.EPOCH)) {
                gaps.incrementAndGet();
            }
        });
        await().until(() -> second.sinceProof().compareTo(ONE_SECOND) < 0);
        int before = gaps.get();

        try (RawRedis redis = server.connect()) {
            redis.command("CLIENT", "KILL", "TYPE", "pubsub");
            await().atMost(Duration.ofSeconds(20)).until(() -> gaps.get() > before);
            await().until(() -> second.sinceProof().compareTo(ONE_SECOND) < 0);

            redis.command("ACL", "SETUSER", "default", "-publish");
            await().until(() -> second.sinceProof().compareTo(ONE_SECOND) > 0);
            redis.command("ACL", "SETUSER", "default", "+publish");
            await().until(() -> second.sinceProof().compareTo(ONE_SECOND) < 0);
        }
        assertThat(first.sinceProof()).isLessThan(GIVES_UP.multipliedBy(10));
        Subscription third = wakeups.subscribe(List.of(SHARDS.get(2)), (of, due) -> {});
        await().until(() -> third.sinceProof().compareTo(ONE_SECOND) < 0);
        wakeups.close();
        destroy(connections);
    }

    /** The number of another sender stands for those before it that were lost. */
    @ParameterizedTest
    @EnumSource
    void wakeupsMayBeLostWithAMissingNumber(Driver driver) throws Exception {
        RedisConnectionFactory connections = driver.connect(server);
        WakeupSubscriptions wakeups = new WakeupSubscriptions(connections, keys);
        AtomicInteger gaps = new AtomicInteger();
        Subscription subscription = wakeups.subscribe(SHARDS, (of, due) -> gaps.incrementAndGet());
        await().until(() -> subscription.sinceProof().compareTo(ONE_SECOND) < 0);
        int before = gaps.get();

        try (RawRedis redis = server.connect()) {
            List<?> echoes = (List<?>) redis.command("PUBSUB", "CHANNELS", "dq:echo:*");
            redis.command("PUBLISH", RawRedis.text((byte[]) echoes.get(0)), "1000000");
        }

        await().until(() -> gaps.get() == before + SHARDS.size());
        wakeups.close();
        destroy(connections);
    }

    /** The driver sees nothing of it. */
    @ParameterizedTest
    @EnumSource
    void subscribesAnewIfTheLineOfTheSubscriptionsIsDead(Driver driver) throws Exception {
        try (TcpProxy line = TcpProxy.to(server)) {
            RedisConnectionFactory connections = driver.connect(line.host(), line.port());
            WakeupSubscriptions wakeups = new WakeupSubscriptions(connections, keys, ONE_SECOND);
            SHARDS.forEach(shard -> listen(wakeups, shard));
            await().until(() -> allAreHeard(SHARDS));

            line.strand();
            if (connections instanceof LettuceConnectionFactory lettuce) {
                lettuce.resetConnection(); // commands have a new connection
            }
            heard.clear();

            await().atMost(Duration.ofSeconds(20)).until(() -> allAreHeard(SHARDS));
            wakeups.close();
            await().until(() -> !runs("delay-queue-wakeups"));
            destroy(connections);
        }
    }

    @Test
    void provesNothingForOneShardAloneWhereItWouldSaveNothing() {
        LettuceConnectionFactory connections = (LettuceConnectionFactory) Driver.LETTUCE.connect(server);
        WakeupSubscriptions wakeups = new WakeupSubscriptions(connections, keys);
        Subscription only = listen(wakeups, SHARDS.get(0));
        await().until(() -> allAreHeard(SHARDS.subList(0, 1)));
        assertThat(only.sinceProof()).isEqualTo(Subscription.UNPROVEN);

        Subscription other = listen(wakeups, SHARDS.get(1));
        await().until(() -> only.sinceProof().compareTo(ONE_SECOND) < 0);

        other.close();
        await().until(() -> only.sinceProof().compareTo(ONE_SECOND) > 0);
        wakeups.close();
        connections.destroy();
    }

    @Test
    void receivesWakeupsOfOtherMastersWhileOneIsAway() {
        try (RedisCluster cluster = RedisCluster.start(3, 0, "--cluster-require-full-coverage", "no")) {
            List<ShardKey> shards =
                    IntStream.range(0, 12).mapToObj(i -> new ShardKey("t", i)).toList();
            RedisServer away = cluster.masterOf(keys.prefix(shards.get(0)));
            Map<Boolean, List<ShardKey>> byAnswer = shards.stream()
                    .collect(Collectors.partitioningBy(shard -> cluster.masterOf(keys.prefix(shard)) != away));
            LettuceConnectionFactory connections = new LettuceConnectionFactory(
                    new RedisClusterConfiguration(List.of(cluster.addresses().split(",", -1))));
            connections.afterPropertiesSet();
            connections.start();
            away.kill();
            RedisServer other = cluster.masters().stream()
                    .filter(master -> master != away)
                    .findFirst()
                    .orElseThrow();

            WakeupSubscriptions wakeups = new WakeupSubscriptions(connections, keys);
            try (RawRedis redis = other.connect()) {
                shards.forEach(shard -> listen(wakeups, shard));
                await().atMost(Duration.ofSeconds(20)).untilAsserted(() -> {
                    shards.forEach(shard -> redis.command("PUBLISH", keys.wakeup(shard), "1000"));
                    assertThat(heard).containsAll(byAnswer.get(true));
                });
                Subscription proven = wakeups.subscribe(byAnswer.get(true).subList(0, 2), (of, due) -> {});
                assertThat(proven.sinceProof()).isEqualTo(Subscription.UNPROVEN);
            } finally {
                wakeups.close();
                connections.destroy();
            }
            assertThat(byAnswer.get(true)).isNotEmpty();
        }
    }
}
