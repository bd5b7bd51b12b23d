package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.store.StoreUnavailableException;
import io.lettuce.core.RedisCommandExecutionException;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RedisFailureTests {

    /** Redis quotes the arguments of a command that it does not know. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "ERR unknown command 'EVALSHA', with args beginning with: 'secret' '1' ",
                "ERR unknown command `HGETALL`, with args beginning with: `secret`, ",
                "NOPERM this user has no permissions to run the 'evalsha' command, with args beginning with: 'secret'"
            })
    void printsNoArguments(String reply) {
        StoreUnavailableException failure =
                RedisFailure.translate(new IllegalStateException(new RedisCommandExecutionException(reply)));

        StringWriter printed = new StringWriter();
        failure.printStackTrace(new PrintWriter(printed, true));
        assertThat(printed.toString()).doesNotContain("secret").containsIgnoringCase(reply.split("[`']", -1)[1]);
    }
}
