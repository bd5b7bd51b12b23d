package io.easykit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class RedisReplyTests {

    private static final String QUOTING = "ERR unknown command 'AUHT', with args beginning with: 'shop' 'secret' ";

    @Test
    void keepsNoArguments() {
        assertThat(RedisReply.withoutArguments(QUOTING)).isEqualTo("ERR unknown command 'AUHT'");
        assertThat(RedisReply.withoutArguments("ERR no such key")).isEqualTo("ERR no such key");
    }

    @Test
    void printsNoArgumentsWhereACauseQuotesThem() {
        RuntimeException failure = new IllegalStateException("Redis refused", new IllegalArgumentException(QUOTING));

        assertThat(printed(RedisReply.safe(failure)))
                .doesNotContain("secret")
                .contains("ERR unknown command 'AUHT'")
                .contains("printsNoArgumentsWhereACauseQuotesThem");
    }

    @Test
    void leavesOtherFailuresAsTheyAre() {
        RuntimeException failure = new IllegalStateException("Redis refused", new IllegalArgumentException("ERR"));

        assertThat(RedisReply.safe(failure)).isSameAs(failure);
    }

    private static String printed(Throwable failure) {
        StringWriter text = new StringWriter();
        failure.printStackTrace(new PrintWriter(text, true));
        return text.toString();
    }
}
