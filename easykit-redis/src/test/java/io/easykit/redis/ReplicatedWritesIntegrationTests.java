package io.easykit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.easykit.redis.ReplicatedWrites.Replicated;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisCluster;
import io.easykit.test.RedisServer;
import io.easykit.test.TcpProxy;
import io.lettuce.core.RedisCommandInterruptedException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.internal.HostAndPort;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.DnsResolvers;
import io.lettuce.core.resource.MappingSocketAddressResolver;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** When replicated writes leave a server, and which are never sent. Their replies are tested with the queue. */
class ReplicatedWritesIntegrationTests {

    private static final Duration TIMEOUT = Duration.ofMillis(250);
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final List<AutoCloseable> opened = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (int i = opened.size() - 1; i >= 0; i--) {
            opened.get(i).close();
        }
    }

    @Test
    void leavesOnlyTheConnectionToAClusterNodeThatIsSilentAlthoughItIsStillTheMaster() {
        RedisCluster cluster = open(RedisCluster.start());
        RedisServer master = cluster.masters().get(0);
        TcpProxy line = open(TcpProxy.to(master));
        ReplicatedWrites writes = writes(
                new RedisClusterConfiguration(List.of(cluster.addresses().split(",", -1))),
                DefaultClientResources.builder()
                        .socketAddressResolver(MappingSocketAddressResolver.create(
                                DnsResolvers.UNRESOLVED,
                                address -> address.getPort() == master.port()
                                        ? HostAndPort.of(line.host(), line.port())
                                        : address)));
        List<String> keys =
                cluster.masters().stream().map(server -> keyOn(cluster, server)).toList();
        await().atMost(PATIENCE).until(() -> keys.stream().allMatch(key -> isWritten(writes, key)));
        RawRedis other = open(cluster.masters().get(1).connect());
        String before = other.info("stats").get("total_connections_received");

        line.strand();

        await().atMost(PATIENCE).until(() -> isWritten(writes, keys.get(0)));
        assertThat(keys).allMatch(key -> isWritten(writes, key));
        assertThat(other.info("stats")).containsEntry("total_connections_received", before);
    }

    @Test
    void leavesAServerThatBecameAReplicaWithTheFirstRefusal() {
        RedisServer former = open(RedisServer.start());
        RedisServer promoted = open(RedisServer.start());
        TcpProxy line = open(TcpProxy.to(former));
        ReplicatedWrites writes =
                writes(new RedisStandaloneConfiguration(line.host(), line.port()), DefaultClientResources.builder());
        await().atMost(PATIENCE).until(() -> isWritten(writes, "key"));

        former.replicaOf(promoted);
        line.redirect(promoted);

        assertThatThrownBy(() -> write(writes, "key")).hasMessageContaining("READONLY");
        assertThat(write(writes, "key").reply()).isEqualTo("OK");
    }

    /** Before its first write it asks whether it may wait, which a replica refuses with an error of its own. */
    @Test
    void leavesAReplicaWithItsFirstWrite() {
        RedisServer former = open(RedisServer.start());
        RedisServer promoted = open(RedisServer.start());
        TcpProxy line = open(TcpProxy.to(former));
        former.replicaOf(promoted);
        ReplicatedWrites writes =
                writes(new RedisStandaloneConfiguration(line.host(), line.port()), DefaultClientResources.builder());

        assertThatThrownBy(() -> write(writes, "key")).hasMessageContaining("READONLY");
        line.redirect(promoted);

        await().atMost(PATIENCE).until(() -> isWritten(writes, "key"));
    }

    /** The caller may cancel the write over another connection, and would do so too early. */
    @Test
    void sendsNoWriteWhoseCallerWasInterruptedBeforeItLeft() throws Exception {
        RedisServer redis = open(RedisServer.start());
        ReplicatedWrites writes =
                writes(new RedisStandaloneConfiguration(redis.host(), redis.port()), DefaultClientResources.builder());

        Throwable failure = failureOfAWriteBehindAnother(redis, writes, caller -> {
            await().until(caller::getState, Thread.State.TIMED_WAITING::equals);
            caller.interrupt();
        });

        assertThat(failure).isInstanceOf(RedisCommandInterruptedException.class).matches(CallFailures::isNotSent);
    }

    @Test
    void sendsNoWriteThatWaitedTooLongForItsTurn() throws Exception {
        RedisServer redis = open(RedisServer.start());
        ReplicatedWrites writes = writes(
                new RedisStandaloneConfiguration(redis.host(), redis.port()),
                DefaultClientResources.builder(),
                Duration.ofMillis(1));

        Throwable failure = failureOfAWriteBehindAnother(redis, writes, caller -> {});

        assertThat(failure).isInstanceOf(NotConnectedException.class);
    }

    /** Whether a write may have been stored decides what its caller has to do. */
    @Test
    void saysOfEachWriteThatWaitedForAConnectionThatItWasNotSent() {
        RedisServer redis = open(RedisServer.start());
        TcpProxy line = open(TcpProxy.to(redis));
        ReplicatedWrites writes =
                writes(new RedisStandaloneConfiguration(line.host(), line.port()), DefaultClientResources.builder());
        await().atMost(PATIENCE).until(() -> isWritten(writes, "key"));
        line.freeze();

        List<Throwable> failures = new ArrayList<>();
        await().atMost(PATIENCE).until(() -> {
            Throwable failure = catchThrowable(() -> write(writes, "key"));
            failures.add(failure);
            return !(failure instanceof RedisCommandTimeoutException);
        });

        assertThat(failures).last().isInstanceOf(NotConnectedException.class);
        line.heal();
        await().atMost(PATIENCE).until(() -> isWritten(writes, "key"));
    }

    /** For example, too little memory. Another attempt would be pointless, but the caller must not wait for the time limit. */
    @Test
    void failsAtOnceIfTheDriverThrowsAnError() {
        RedisServer redis = open(RedisServer.start());
        ReplicatedWrites writes =
                writes(new RedisStandaloneConfiguration(redis.host(), redis.port()), DefaultClientResources.builder());
        await().atMost(PATIENCE).until(() -> isWritten(writes, "warm"));
        Error fault = new Error("Java heap space");
        CommandType set = CommandType.SET;

        assertThatThrownBy(() -> writes.await(
                        new byte[] {1},
                        () -> new Command<byte[], byte[], String>(set, new StatusOutput<>(ByteArrayCodec.INSTANCE)) {
                            @Override
                            public ProtocolKeyword getType() {
                                throw fault;
                            }
                        },
                        1,
                        Duration.ofMillis(1)))
                .rootCause()
                .isSameAs(fault);
        assertThat(write(writes, "next").reply()).isEqualTo("OK");
    }

    /**
     * Makes a write that waits for the {@code WAIT} of another one, ends this {@code WAIT} once the caller is back, and
     * checks that the write is not sent then.
     *
     * @param meanwhile gets the thread that makes the write
     */
    private Throwable failureOfAWriteBehindAnother(
            RedisServer redis, ReplicatedWrites writes, Consumer<Thread> meanwhile) throws Exception {
        RawRedis other = open(redis.connect());
        RedisServer replica = open(RedisServer.start());
        await().atMost(PATIENCE).until(() -> isWritten(writes, "warm"));
        FutureTask<Replicated<String>> first = new FutureTask<>(() -> write(writes, "first", PATIENCE));
        new Thread(first).start();
        await().until(() -> other.info("clients").get("blocked_clients"), "1"::equals);

        FutureTask<Replicated<String>> second = new FutureTask<>(() -> write(writes, "second"));
        Thread caller = new Thread(second);
        caller.start();
        meanwhile.accept(caller);
        Throwable failure =
                catchThrowable(() -> second.get(30, TimeUnit.SECONDS)).getCause();

        replica.replicaOf(redis);
        assertThat(first.get().replicas()).isOne();
        assertThat(write(writes, "third").reply()).isEqualTo("OK");
        assertThat(other.command("EXISTS", "second")).isEqualTo(0L);
        return failure;
    }

    private ReplicatedWrites writes(RedisConfiguration redis, ClientResources.Builder builder) {
        return writes(redis, builder, PATIENCE);
    }

    private ReplicatedWrites writes(
            RedisConfiguration redis, ClientResources.Builder builder, Duration firstConnectionTimeout) {
        ClientResources resources =
                builder.ioThreadPoolSize(2).computationThreadPoolSize(2).build();
        opened.add(() -> resources.shutdown(0, 0, TimeUnit.SECONDS).syncUninterruptibly());
        LettuceConnectionFactory application = new LettuceConnectionFactory(
                redis,
                LettuceClientConfiguration.builder()
                        .commandTimeout(TIMEOUT)
                        .clientResources(resources)
                        .build());
        return open(new ReplicatedWrites(application, firstConnectionTimeout, Duration.ofSeconds(1)));
    }

    private static boolean isWritten(ReplicatedWrites writes, String key) {
        try {
            return write(writes, key).reply().equals("OK");
        } catch (RedisException away) {
            return false;
        }
    }

    private static Replicated<String> write(ReplicatedWrites writes, String key) {
        return write(writes, key, Duration.ofMillis(1));
    }

    private static Replicated<String> write(ReplicatedWrites writes, String key, Duration timeout) {
        byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
        return writes.await(
                bytes,
                () -> new Command<>(
                        CommandType.SET,
                        new StatusOutput<>(ByteArrayCodec.INSTANCE),
                        new CommandArgs<>(ByteArrayCodec.INSTANCE).addKey(bytes).addValue(bytes)),
                1,
                timeout);
    }

    private static String keyOn(RedisCluster cluster, RedisServer master) {
        return IntStream.range(0, 1_000)
                .mapToObj(i -> "key " + i)
                .filter(key -> cluster.masterOf(key).equals(master))
                .findFirst()
                .orElseThrow();
    }

    private <T extends AutoCloseable> T open(T resource) {
        opened.add(resource);
        return resource;
    }
}
