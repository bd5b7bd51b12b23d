package io.easykit.delayqueue.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.ShardKey;
import io.easykit.delayqueue.StoreFullException;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.RedisSystemException;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** What the error replies of Redis mean, in the words of 6.2 (which wraps what a script has met) and of 7. */
class ScriptRunnerTests {

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
                .hasMessageEndingWith(": " + error);
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
        assertThat(ScriptRunner.translate(
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
        assertThat(ScriptRunner.translate(
                        "send.lua",
                        new RedisConnectionFailureException(
                                "Unable to connect to Redis",
                                new RedisException(new SSLHandshakeException("PKIX path building failed")))))
                .isInstanceOf(StoreUnavailableException.class);
    }

    /** Redis quotes what it was sent, which at the start of a connection is the password. */
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
                ScriptRunner.translate(
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
        assertThat(ScriptRunner.translate(
                        "send.lua",
                        new QueryTimeoutException("Redis command timed out", new RedisException("timeout"))))
                .hasMessageContaining("did not answer send.lua, so its outcome is unknown");
        assertThat(ScriptRunner.translate(
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
        ScriptRunner runner = new ScriptRunner(closed, new RedisKeys("dq:"), text -> text);

        assertThatThrownBy(() -> runner.list(LuaScript.Name.STATS, new ShardKey("t", 0), new Arguments()))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("application stops")
                .hasMessageContaining("was not carried out")
                .hasMessageContaining("SmartLifecycle");
        closed.destroy();
    }

    private static DelayQueueException reply(String error) {
        return ScriptRunner.translate(
                "send.lua", new RedisSystemException("Error in execution", new RedisCommandExecutionException(error)));
    }
}
