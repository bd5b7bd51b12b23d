package io.easykit.delayqueue.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.StoreFullException;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.redis.DedicatedConnections;
import io.easykit.redis.ErrorReply;
import io.easykit.redis.LettuceConnector;
import io.easykit.redis.LettuceScripts;
import io.easykit.redis.LuaScript;
import io.easykit.redis.Remedy;
import io.easykit.redis.ScriptExecutor;
import io.easykit.redis.ScriptReply;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.RedisSystemException;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The meaning of Redis's error replies, as 6.2 (which wraps errors inside a script) and 7 write them. */
class ShardScriptsTests {

    private static final ShardKey SHARD = new ShardKey("t", 0);
    private static final ShardKey OTHER = new ShardKey("t", 1);
    private static final String IN_SCRIPT_62 =
            "ERR Error running script (call to f_7829effcb2fe72eb30b7f91ade9dd54699db428a): @user_script:50: ";
    private static final String IN_SCRIPT_7 = " script: 7829effcb2fe72eb30b7f91ade9dd54699db428a, on @user_script:50.";

    @ParameterizedTest
    @ValueSource(
            strings = {
                "READONLY You can't write against a read only replica.",
                "NOREPLICAS Not enough good replicas to write.",
                "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
                "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
                "LOADING Redis is loading the dataset in memory",
                "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
                "CLUSTERDOWN The cluster is down",
                "CLUSTERDOWN Hash slot not served",
                "TRYAGAIN Multiple keys request during rehashing of slot"
            })
    void passesWithTheStateOfTheServer(String error) {
        assertThat(reply(error)).isInstanceOf(StoreUnavailableException.class).hasMessageContaining(error);
        assertThat(reply(error + IN_SCRIPT_7)).isInstanceOf(StoreUnavailableException.class);
        assertThat(reply(IN_SCRIPT_62 + "@user_script: 50: -" + error))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageEndingWith(": " + error + Remedy.of(ErrorReply.parse(error)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "NOPERM this user has no permissions to run the 'evalsha' command",
                "NOAUTH Authentication required.",
                "BUSYKEY Target key name already exists.",
                "ERR The user executing the script can't run this command or subcommand" + IN_SCRIPT_7,
                IN_SCRIPT_62 + "@user_script: 50: The user executing the script can't run this command or subcommand",
                "WRONGTYPE Operation against a key holding the wrong kind of value" + IN_SCRIPT_7,
                IN_SCRIPT_62 + "WRONGTYPE Operation against a key holding the wrong kind of value",
                "ERR delay-queue: lease out of range: OOM READONLY" + IN_SCRIPT_7,
                IN_SCRIPT_62 + "delay-queue: lease out of range: -READONLY OOM command not allowed"
            })
    void isRefusedWhereRepeatingDoesNotHelp(String error) {
        assertThat(reply(error)).isInstanceOf(StoreRefusedException.class);
    }

    @Test
    void aRefusalNamesItsRemedyInASentenceOfItsOwn() {
        assertThat(reply("NOAUTH Authentication required."))
                .hasMessageEndingWith("required. (the server asks for a password: set spring.data.redis.password)");
        assertThat(QueueFailures.translate(
                        "send", new RedisCommandExecutionException("NOPERM no permission for 'eval'"), " Grant it."))
                .hasMessageEndingWith("no permission for 'eval'. Grant it.");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "OOM command not allowed when used memory > 'maxmemory'.",
                "OOM command not allowed when used memory > 'maxmemory'." + IN_SCRIPT_7,
                IN_SCRIPT_62 + "@user_script: 50: -OOM command not allowed when used memory > 'maxmemory'."
            })
    void isFull(String error) {
        assertThat(reply(error)).isInstanceOf(StoreFullException.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"ERR max number of clients reached", "ERR max number of clients + cluster connections reached"})
    void isUnavailableToOneClientTooMany(String error) {
        assertThat(QueueFailures.translate(
                        "send.lua",
                        new RedisConnectionFailureException(
                                "Unable to connect to Redis",
                                new RedisConnectionException(
                                        "Unable to connect to localhost:6379",
                                        new RedisCommandExecutionException(error)))))
                .isInstanceOf(StoreUnavailableException.class);
    }

    @Test
    void isNotRefusedByWhatHappensOnTheWay() {
        SSLHandshakeException handshake = new SSLHandshakeException("PKIX path building failed");
        handshake.initCause(new CertificateException("PKIX path building failed"));

        assertThat(QueueFailures.translate(
                        "send.lua",
                        new RedisConnectionFailureException(
                                "Unable to connect to Redis", new RedisException(handshake))))
                .isInstanceOf(StoreUnavailableException.class);
    }

    /** Redis quotes the command in its reply. At the start of a connection the command has the password. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "ERR unknown command 'AUTH', with args beginning with: 'shop' 'secret' ",
                "ERR unknown command `HELLO`, with args beginning with: `3`, `AUTH`, `default`, `secret`, ",
                "ERR unknown command 'EVALSHA', with args beginning with: 'secret'" + IN_SCRIPT_7
            })
    void neverPassesOnTheArgumentsThatRedisQuotes(String error) {
        for (DelayQueueException e : List.of(
                reply(error),
                QueueFailures.translate(
                        "send.lua",
                        new RedisConnectionFailureException(
                                "Unable to connect to Redis: " + error,
                                new RedisConnectionException(error, new RedisCommandExecutionException(error)))))) {
            StringWriter text = new StringWriter();
            e.printStackTrace(new PrintWriter(text));
            assertThat(text.toString()).doesNotContain("secret").contains("unknown command");
        }
    }

    @Test
    void saysWhatIsKnownOfACallWithoutAnswer() {
        assertThat(reply("LOADING Redis is loading the dataset in memory")).hasMessageContaining("cannot carry out");
        assertThat(QueueFailures.translate(
                        "send.lua",
                        new QueryTimeoutException("Redis command timed out", new RedisException("timeout"))))
                .hasMessageContaining("did not answer send.lua, so its outcome is unknown");
        assertThat(QueueFailures.translate(
                        "send.lua",
                        new RedisSystemException(
                                "Redis exception",
                                new RedisException("Currently not connected. Commands are rejected."))))
                .hasMessageContaining("was not carried out");
    }

    @Test
    void saysWhatToDoWhenTheConnectionIsClosedAlready() {
        LettuceConnectionFactory closed = new LettuceConnectionFactory();
        closed.afterPropertiesSet();
        closed.start();
        closed.stop();
        ShardScripts runner =
                runner(new LettuceScripts(new LettuceConnector(closed, Duration.ofSeconds(5))), Duration.ZERO);

        assertThatThrownBy(() -> runner.list(QueueScript.STATS, new ShardKey("t", 0), new Arguments()))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("application stops")
                .hasMessageContaining("was not carried out")
                .hasMessageContaining("SmartLifecycle");
        closed.destroy();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "TRYAGAIN Multiple keys request during rehashing of slot",
                "ASK 3999 127.0.0.1:6381",
                "MOVED 3999 127.0.0.1:6381",
                "CLUSTERDOWN Hash slot not served"
            })
    void repeatsACallWhileItsSlotMoves(String error) {
        FakeExecutor redis = new FakeExecutor(error, 3);
        ShardScripts runner = runner(redis, new SlotRetry(Duration.ofMinutes(1), () -> 0));

        assertThat(runner.number(QueueScript.PAUSE, SHARD, new Arguments())).isOne();
        assertThat(redis.calls).isEqualTo(4);

        redis.failures = 3;
        assertThat(runner.lists(QueueScript.DECLARE, List.of(SHARD, OTHER), new Arguments()))
                .extracting(ShardScripts.Answer::shard, ShardScripts.Answer::reply, ShardScripts.Answer::failure)
                .containsExactly(tuple(SHARD, List.of(1L), null), tuple(OTHER, List.of(1L), null));
    }

    @Test
    void givesUpOnAMovingSlotWithinTheBound() {
        FakeExecutor redis =
                new FakeExecutor("TRYAGAIN Multiple keys request during rehashing of slot", Integer.MAX_VALUE);
        AtomicLong clock = new AtomicLong();
        ShardScripts runner = runner(
                redis,
                new SlotRetry(
                        Duration.ofMillis(100),
                        () -> clock.getAndAdd(Duration.ofMillis(20).toNanos())));

        assertThatThrownBy(() -> runner.number(QueueScript.PAUSE, SHARD, new Arguments()))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("cannot carry out")
                .hasMessageContaining("TRYAGAIN");
        assertThat(redis.calls).isEqualTo(5);

        assertThat(runner.lists(QueueScript.DECLARE, List.of(SHARD), new Arguments()))
                .singleElement()
                .extracting(ShardScripts.Answer::failure)
                .isInstanceOf(StoreUnavailableException.class);
    }

    /** An outage of a cluster answers this, too, and callers shall not wait for it. */
    @Test
    void repeatsACallWithoutOwnerOfItsSlotForAShortTimeOnly() {
        FakeExecutor redis = new FakeExecutor("CLUSTERDOWN The cluster is down", Integer.MAX_VALUE);

        assertThatThrownBy(() -> runner(redis, Duration.ofDays(1)).number(QueueScript.PAUSE, SHARD, new Arguments()))
                .isInstanceOf(StoreUnavailableException.class);
        assertThat(redis.calls).isBetween(2, 6);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "READONLY You can't write against a read only replica.",
                "LOADING Redis is loading the dataset in memory",
                "OOM command not allowed when used memory > 'maxmemory'.",
                "Command timed out after 250 millisecond(s)"
            })
    void repeatsNoOtherFailure(String error) {
        FakeExecutor redis = new FakeExecutor(error, Integer.MAX_VALUE);

        assertThatThrownBy(() -> runner(redis, Duration.ofDays(1)).number(QueueScript.PAUSE, SHARD, new Arguments()))
                .isInstanceOf(DelayQueueException.class);
        assertThat(redis.calls).isOne();
    }

    @Test
    void doesNotRepeatACallOfAnInterruptedThread() {
        FakeExecutor redis = new FakeExecutor("TRYAGAIN Multiple keys request", Integer.MAX_VALUE);
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> runner(redis, Duration.ofDays(1)).number(QueueScript.PAUSE, SHARD, new Arguments()))
                .isInstanceOf(StoreUnavailableException.class);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(redis.calls).isOne();
    }

    /** A plain factory waits a minute for a reply. */
    @Test
    void repeatsWithinTheCommandTimeoutAndForTwoSecondsAtMost() {
        LettuceConnectionFactory plain = new LettuceConnectionFactory();

        assertThat(plain.getTimeout()).isEqualTo(60_000);
        assertThat(SlotRetry.over(plain).bound()).isEqualTo(Duration.ofSeconds(2));
        assertThat(SlotRetry.over(DedicatedConnections.copyOf(plain, Duration.ofMillis(250)))
                        .bound())
                .isEqualTo(Duration.ofMillis(250));
    }

    @Test
    void readsAScriptWhenItIsFirstUsedAndOnce() {
        AtomicInteger read = new AtomicInteger();
        ShardScripts scripts = new ShardScripts(
                new FakeExecutor("none", 0), null, new RedisKeys("dq:"), new SlotRetry(Duration.ZERO), text -> {
                    read.incrementAndGet();
                    return text;
                });
        assertThat(read).as("before the first call").hasValue(0);

        scripts.fleetNumber(QueueScript.BEAT, new Arguments());
        scripts.fleetNumber(QueueScript.BEAT, new Arguments());

        assertThat(read).hasValue(1);
    }

    private static ShardScripts runner(ScriptExecutor executor, Duration bound) {
        return runner(executor, new SlotRetry(bound));
    }

    private static ShardScripts runner(ScriptExecutor executor, SlotRetry retry) {
        return new ShardScripts(executor, null, new RedisKeys("dq:"), retry, UnaryOperator.identity());
    }

    /** Fails some calls, and answers the others with 1, or a list of it. */
    private static final class FakeExecutor implements ScriptExecutor {

        private final String error;
        private int failures;
        private int calls;

        FakeExecutor(String error, int failures) {
            this.error = error;
            this.failures = failures;
        }

        @Override
        public Object await(LuaScript script, ScriptReply reply, byte[][] keys, byte[][] arguments) {
            calls++;
            if (failures-- > 0) {
                throw new RedisCommandExecutionException(error);
            }
            return reply == ScriptReply.LIST ? List.of(1L) : 1L;
        }

        @Override
        public CompletionStage<@Nullable Object> run(
                LuaScript script, ScriptReply reply, byte[][] keys, byte[][] arguments) {
            return CompletableFuture.<@Nullable Object>completedFuture(null)
                    .thenApply(begun -> (@Nullable Object) await(script, reply, keys, arguments));
        }

        @Override
        public void load(LuaScript script) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isBlocking() {
            return false;
        }
    }

    private static DelayQueueException reply(String error) {
        return QueueFailures.translate(
                "send.lua", new RedisSystemException("Error in execution", new RedisCommandExecutionException(error)));
    }
}
