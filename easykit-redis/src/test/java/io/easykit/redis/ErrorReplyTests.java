package io.easykit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ErrorReplyTests {

    /** The formats of Redis 6.2, 7.0 and 8.0, for a command and for a script that returns the error. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "READONLY You can't write against a read only replica.",
                "READONLY You can't write against a read only replica. script: 0f7cb1, on @user_script:174.",
                "ERR READONLY You can't write against a read only replica. script: 0f7cb1, on @user_script:174.",
                "ERR Error running script (call to f_0f7c): @user_script:10: -READONLY You can't write against a"
                        + " read only replica.",
                "ERR Error running script (call to f_0f7c): @user_script:19: user_script:19: -@user_script: 14:"
                        + " -READONLY You can't write against a read only replica.",
                "ERR user_script:19: -READONLY You can't write against a read only replica. script: 0f7cb1, on"
                        + " @user_script:19.",
                "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."
            })
    void leavesAReplica(String error) {
        assertThat(ErrorReply.parse(error).isMendedByAnotherServer()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ERR value is not READONLY or so",
                "ERR user_script:3: value is not READONLY or so",
                "WRONGTYPE Operation against a key holding the wrong kind of value",
                "NOREPLICAS Not enough good replicas to write."
            })
    void staysWithAMasterThatRefuses(String error) {
        assertThat(ErrorReply.parse(error).isMendedByAnotherServer()).isFalse();
    }
}
