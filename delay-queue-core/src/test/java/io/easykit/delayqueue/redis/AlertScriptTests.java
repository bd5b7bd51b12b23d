package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.AlertLimits.Kind;
import io.easykit.delayqueue.store.AlertReport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The script of alerts, with the clock of the test. */
class AlertScriptTests {

    private final TestShard shard = new TestShard();

    @AfterEach
    void close() {
        shard.close();
    }

    private boolean raise(String token) {
        return shard.store.raise(KEY, "dead", new AlertReport(token, false));
    }

    private boolean resolve(String token) {
        return shard.store.resolve(KEY, "dead", new AlertReport(token, false));
    }

    private void confirmRaise(String token) {
        assertThat(shard.store.raise(KEY, "dead", new AlertReport(token, true))).isFalse();
    }

    private void confirmResolve(String token) {
        assertThat(shard.store.resolve(KEY, "dead", new AlertReport(token, true)))
                .isFalse();
    }

    private boolean isRaised() {
        return shard.store.stats(KEY).alerts().contains(Kind.DEAD);
    }

    @Test
    void letsOneNodeReportEachChange() {
        assertThat(resolve("a")).as("it is not raised").isFalse();
        assertThat(raise("a")).isTrue();
        assertThat(raise("b")).isFalse();
        assertThat(raise("a")).as("without a reply before").isTrue();
        assertThat(shard.state()).isEqualTo("alert:dead raise:121000:a EXPIRES");
        assertThat(isRaised()).isTrue();
        confirmRaise("a");
        confirmRaise("a");
        assertThat(shard.state()).isEqualTo("alert:dead raised:0: EXPIRES");
        assertThat((Long) shard.redis().command("PTTL", "dq:{t:0}:alert:dead")).isBetween(3_500_000L, 3_600_000L);
        assertThat(raise("c")).isFalse();

        assertThat(resolve("d")).isTrue();
        assertThat(resolve("e")).isFalse();
        assertThat(resolve("d")).as("without a reply before").isTrue();
        assertThat(isRaised()).as("until it is reported").isTrue();
        confirmResolve("d");
        confirmResolve("d");
        assertThat(isRaised()).isFalse();
        assertThat(shard.state()).isEmpty();
    }

    @Test
    void letsAnotherNodeReportWhatOneDoesNotConfirm() {
        raise("a");
        shard.clock(120_999);
        assertThat(raise("b")).isFalse();
        shard.clock(121_000);
        assertThat(raise("b")).isTrue();
        confirmRaise("a");
        assertThat(shard.state()).as("of the other").isEqualTo("alert:dead raise:241000:b EXPIRES");
        confirmRaise("b");

        resolve("c");
        shard.clock(300_000);
        assertThat(resolve("d")).isTrue();
        confirmResolve("c");
        assertThat(isRaised()).isTrue();
        shard.clock(1000); // the clock goes back
        assertThat(resolve("e")).isTrue();
    }

    @Test
    void reportsEachChangeAlsoBeforeTheOneBeforeIsConfirmed() {
        raise("a");
        assertThat(resolve("b")).isTrue();
        confirmRaise("a");
        assertThat(raise("c")).isTrue();
        confirmResolve("b");
        assertThat(isRaised()).isTrue();
        assertThat(raise("d")).isFalse();
    }

    @Test
    void extendsWhatIsRaisedAndReplacesGarbage() {
        shard.seed("RPUSH alert:dead garbage");
        assertThat(raise("a")).isTrue();
        confirmRaise("a");
        shard.redis().command("PEXPIRE", "dq:{t:0}:alert:dead", "1000");
        assertThat(raise("b")).isFalse();
        assertThat((Long) shard.redis().command("PTTL", "dq:{t:0}:alert:dead")).isGreaterThan(3_500_000L);
        shard.seed("SET alert:dead garbage");
        assertThat(raise("c")).isTrue();
    }
}
