package io.easykit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RemedyTests {

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '"',
            value = {
                "\"READONLY You can't write against a read only replica.\", promote",
                "NOREPLICAS Not enough good replicas to write., min-replicas-to-write",
                "ERR NOREPLICAS Not enough good replicas to write., min-replicas-to-write",
                "ERR Error running script (call to f_ab): @user_script:3: -OOM command not allowed, maxmemory",
                "ERR user_script:29: READONLY You can't write against a read only replica., promote",
                "MISCONF Redis is configured to save RDB snapshots, disk",
                "NOAUTH Authentication required., spring.data.redis.password",
                "NOAUTH HELLO must be called with the client already authenticated, spring.data.redis.password",
                "WRONGPASS invalid username-password pair or user is disabled., spring.data.redis.username",
                "ERR DB index is out of range, spring.data.redis.database",
                "ERR SELECT is not allowed in cluster mode, spring.data.redis.database"
            })
    void namesWhatToDo(String error, String remedy) {
        assertThat(Remedy.of(ErrorReply.parse(error))).contains(remedy);
    }

    @Test
    void isEmptyForAnotherError() {
        assertThat(Remedy.of(ErrorReply.parse("WRONGTYPE Operation against a key holding the wrong kind of value")))
                .isEmpty();
    }
}
