package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.store.StoreUnavailableException;
import io.easykit.redis.NotConnectedException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.InvalidDataAccessApiUsageException;

class CacheFailuresTests {

    /** In a script, as Redis 6.2 and 7 word it. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "ERR Error running script (call to f_ab): @user_script:19: -@user_script: 15: -OOM command not allowed",
                "ERR user_script:19: -OOM command not allowed when used memory > 'maxmemory'. script: ab"
            })
    void aServerThatIsFullIsIllAndNamesTheRemedy(String reply) {
        StoreUnavailableException failure = CacheFailures.translate(new RedisCommandExecutionException(reply));

        assertThat(failure.isServerFailure()).isTrue();
        assertThat(CacheFailures.isFull(failure)).isTrue();
        assertThat(failure.isUnanswered()).isFalse();
        assertThat(failure).hasMessageContaining("raise maxmemory");
    }

    /** No permission of a user mends it. */
    @Test
    void aMissingPasswordIsARefusalAndNamesTheSetting() {
        StoreUnavailableException failure =
                CacheFailures.translate(new RedisCommandExecutionException("NOAUTH Authentication required."));

        assertThat(failure)
                .hasMessageContaining("set spring.data.redis.password")
                .hasMessageNotContaining("ACL");
        assertThat(failure.isRefused()).isTrue();
        assertThat(failure.isUnanswered()).isFalse();
    }

    @Test
    void aServerWithoutAReplyIsIll() {
        List<Exception> silences = List.of(
                new TimeoutException(),
                new RedisCommandTimeoutException(),
                new NotConnectedException("No connection to Redis in time", null),
                new RedisException("Connection closed"));

        assertThat(silences)
                .extracting(CacheFailures::translate)
                .allMatch(failure -> failure.isServerFailure() && failure.isUnanswered());
        assertThat(CacheFailures.delayed(new TimeoutException()).isUnanswered()).isTrue();
    }

    /** Jedis, as Spring Data translates it. */
    @Test
    void anExhaustedPoolIsNoReplyOfRedis() {
        assertThat(CacheFailures.translate(ofJedis("Could not get a resource from the pool"))
                        .isServerFailure())
                .isTrue();
        assertThat(CacheFailures.translate(ofJedis("WRONGTYPE Operation against a key holding the wrong kind of value"))
                        .isServerFailure())
                .isFalse();
    }

    /** Jedis sends the password with each new connection of its pool. */
    @Test
    void aRefusedConnectionIsAFailureOfTheServerWithEachDriver() {
        Exception jedis = ofJedis("WRONGPASS invalid username-password pair or user is disabled.");

        assertThat(CacheFailures.translate(new NotConnectedException("No connection to Redis", jedis))
                        .isServerFailure())
                .isTrue();
        assertThat(CacheFailures.translate(new RedisConnectionException("Unable to connect", jedis))
                        .isServerFailure())
                .isTrue();
    }

    private static Exception ofJedis(String message) {
        return new InvalidDataAccessApiUsageException(message, new IllegalStateException(message));
    }

    /** Redis quotes the arguments of an unknown command. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "ERR unknown command 'EVALSHA', with args beginning with: 'secret' '1' ",
                "ERR unknown command `HGETALL`, with args beginning with: `secret`, ",
                "NOPERM this user has no permissions to run the 'evalsha' command, with args beginning with: 'secret'"
            })
    void printsNoArguments(String reply) {
        StoreUnavailableException failure =
                CacheFailures.translate(new IllegalStateException(new RedisCommandExecutionException(reply)));

        StringWriter printed = new StringWriter();
        failure.printStackTrace(new PrintWriter(printed, true));
        assertThat(printed.toString()).doesNotContain("secret").containsIgnoringCase(reply.split("[`']", -1)[1]);
    }
}
