package io.easykit.delayqueue.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.test.RedisServer;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Takes one protection at a time out of the scripts: a checker that does not notice would prove nothing. */
class WeakenedProtocolTests {

    private static final int SEEDS = 150;

    enum Weakness {
        FENCE_WITHOUT_NUMBER("string.sub(state, 1, #number) == number and ", ""),
        FENCE_WITHOUT_LEASE("state and leases[i] and ", "state and "),
        REPETITION_IN_A_BATCH_COUNTS("== number and not seen[id]", "== number"),
        CLAIM_ROUNDS_UP("string.format('%.0f', now), 'WITHSCORES'", "string.format('%.0f', soonest), 'WITHSCORES'"),
        DELAY_ROUNDS_DOWN("math.ceil(micros / 1000)", "math.floor(micros / 1000)"),
        NUMBER_WITHOUT_FLOOR("math.max(lastNumber + 1, micros)", "lastNumber + 1"),
        NUMBER_WITHOUT_MEMORY("math.max(lastNumber + 1, micros)", "micros"),
        CLAIM_FORGETS_ITS_ANSWER("last[1] == request", "false"),
        CLAIM_ANSWERS_OLD_REQUESTS("last[1] > request", "false"),
        REPLAY_WITHOUT_NUMBER("s and s.number == string.format('%.0f', number + i - 1) and ", "s and "),
        REPLAY_WITHOUT_LEASE("+ i - 1) and redis.call('ZSCORE', inflight, id)", "+ i - 1)"),
        CROWD_BESIDE_A_LOST_ONE("if s.lost ~= '0' then", "if false then"),
        CLAIM_WHILE_PAUSED("elseif kept[2] then", "elseif false then"),
        EXTEND_SHORTENS("'XX', 'GT', unpack(leases)", "'XX', unpack(leases)"),
        SEND_OVERWRITES("frame, 'NX')", "frame)"),
        REAP_TAKES_LIVE_LEASES("inflight, '-inf', now, 'LIMIT'", "inflight, '-inf', '+inf', 'LIMIT'"),
        REAP_NEVER_BURIES("s.lost >= maxLost", "false"),
        RELEASE_COSTS("s.releases, s.due = s.releases + 1,", "s.failures, s.due = s.failures + 1,"),
        REDRIVE_OF_ANY_DEATH("paged or tonumber(diedAt) == tonumber(ARGV[3 + 2 * i])", "true"),
        REDRIVE_KEEPS_BUDGETS("s.failures, s.lost, s.due = 0, 0, ", "s.due = "),
        PURGE_OF_ANY_DEATH("(aged or tonumber(diedAt[i]) == tonumber(ARGV[2 * i + 1]))", "true"),
        PURGE_COUNTS_REPETITIONS("tonumber(ARGV[2 * i + 1])) and not seen[id]", "tonumber(ARGV[2 * i + 1]))"),
        CANCEL_OF_ANY_LIFE("if code ~= 0 and life ~= ''", "if false"),
        ERRORS_STAY("if extras > 0 then spare('HDEL'", "if false then spare('HDEL'"),
        BELL_ONLY_WHEN_EMPTY("string.format('%.0f', math.max(due, now))", "'+inf'");

        final String protection;
        final String replacement;

        Weakness(String protection, String replacement) {
            this.protection = protection;
            this.replacement = replacement;
        }
    }

    @ParameterizedTest
    @EnumSource
    void isNoticed(Weakness weakness) {
        AtomicInteger weakened = new AtomicInteger();
        int noticedBy = -1;
        try (ProtocolChecker checker = new ProtocolChecker(TestShard.connections(RedisServer.shared()), script -> {
            if (!script.contains(weakness.protection)) {
                return script;
            }
            weakened.incrementAndGet();
            return TestShard.replaceOnce(script, weakness.protection, weakness.replacement);
        })) {
            for (int seed = 1; seed <= SEEDS && noticedBy < 0; seed++) {
                if (isNoticedBy(checker, seed)) {
                    noticedBy = seed;
                }
            }
        }
        assertThat(weakened).as("scripts that hold the protection").hasPositiveValue();
        assertThat(noticedBy).as("seed that notices " + weakness).isPositive();
    }

    private static boolean isNoticedBy(ProtocolChecker checker, int seed) {
        try {
            checker.run(seed, 220);
            return false;
        } catch (AssertionError noticed) {
            assertThat(noticed).as("a promise, not a broken script").hasCauseInstanceOf(AssertionError.class);
            return true;
        }
    }
}
