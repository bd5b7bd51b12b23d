package io.easykit.delayqueue.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.store.JobStore;
import io.easykit.delayqueue.store.JobStore.Saved;
import io.easykit.delayqueue.store.JobStoreContract;
import io.easykit.delayqueue.store.StoredJob;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The scripts of jobs, with the clock of the test; locks and jobs expire by the server's own. */
class JobScriptTests extends JobStoreContract {

    private static final String PREFIX = "dq:{console}:";

    private final TestShard shard = new TestShard();
    private final JobStore jobs = shard.store.jobs();

    @AfterEach
    void close() {
        shard.close();
    }

    @Override
    protected JobStore jobs() {
        return jobs;
    }

    @Override
    protected void clock(long millis) {
        shard.clock(millis);
    }

    @Override
    protected void expireLock() {
        assertThat(shard.redis().command("DEL", PREFIX + "lock:" + LOCK)).isEqualTo(1L);
    }

    @Override
    protected void expireJob(String id) {
        assertThat(shard.redis().command("DEL", PREFIX + "job:" + id)).isEqualTo(1L);
    }

    private void assertKept(String... names) {
        for (String name : names) {
            assertThat((Long) shard.redis().command("PTTL", PREFIX + name))
                    .as(name)
                    .isBetween(86_000_000L, 86_400_000L);
        }
    }

    /** As some hours do. */
    private void age(String... names) {
        for (String name : names) {
            assertThat(shard.redis().command("PEXPIRE", PREFIX + name, "1000000"))
                    .as(name)
                    .isEqualTo(1L);
        }
    }

    @Test
    void keepsAJobForADayAfterEachChange() {
        create("j1");
        assertKept("job:j1", "jobs", "running");
        assertThat(shard.redis().snapshot().keySet().stream().filter(key -> !key.startsWith("test:")))
                .allMatch(key -> key.startsWith(PREFIX));
        for (Runnable change : List.<Runnable>of(() -> jobs.stop("j1"), () -> jobs.resume("j1"), () -> {
            jobs.take("j1", "n1");
            jobs.save("j1", "n1", StoredJob.RUNNING, Map.of());
        })) {
            shard.redis().command("ZADD", PREFIX + "running", "1", "another");
            age("job:j1", "jobs", "running");
            change.run();
            assertKept("job:j1", "jobs", "running");
        }
        assertThat((Long) shard.redis().command("PTTL", PREFIX + "lock:orders")).isBetween(10_000L, 15_000L);
    }

    /** Also while the lock of another job is held for longer than a day. */
    @Test
    void keepsAJobThatWaits() {
        create("j1");
        create("waits");
        jobs.create("alone", "read:alone", Map.of());
        jobs.take("j1", "n1");
        age("job:waits", "job:alone", "running");
        jobs.running();

        assertKept("job:waits", "running");
        assertThat((Long) shard.redis().command("PTTL", PREFIX + "job:alone")).isLessThan(1_000_001L);
    }

    @Test
    void forgetsTheOldInTheListOfAll() {
        create("j1");
        shard.clock(86_402_500);
        create("j2");

        assertThat(shard.redis().command("ZSCORE", PREFIX + "jobs", "j1")).isNull();
        assertThat(jobs.list()).as("it runs").extracting(StoredJob::id).containsExactly("j2", "j1");
    }

    @Test
    void oneJobThatIsDamagedDoesNotHideTheOthers() {
        create("j1");
        create("j2");
        shard.redis().command("DEL", PREFIX + "job:j1");
        shard.redis().command("SET", PREFIX + "job:j1", "garbage");

        assertThat(jobs.list()).extracting(StoredJob::id).containsExactly("j2");
        assertThat(jobs.running().free()).containsExactly("j2");
        assertThat(jobs.find("j1")).isEmpty();
    }

    /** As a restore of single keys leaves it. A node that wants to take the jobs logs why it cannot. */
    @ParameterizedTest
    @CsvSource({"SET, j1 n0", "SET, j2 n0", "SADD, garbage"})
    void reportsALockThatIsDamaged(String command, String value) {
        create("j1");
        create("j2");
        shard.redis().command(command, PREFIX + "lock:" + LOCK, value);

        assertThat(jobs.list()).hasSize(2).noneMatch(StoredJob::taken);
        assertThat(jobs.running().free()).containsExactly("j1", "j2");
        for (String id : List.of("j1", "j2")) {
            assertThatThrownBy(() -> jobs.take(id, "n1")).isInstanceOf(StoreRefusedException.class);
        }
        shard.redis().command("DEL", PREFIX + "lock:" + LOCK);
        assertThat(jobs.take("j1", "n1")).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"SADD, garbage", "SET, j1 n0"})
    void stopsAJobWhoseLockIsDamaged(String command, String value) {
        create("j1");
        shard.redis().command(command, PREFIX + "lock:" + LOCK, value);

        assertThat(jobs.stop("j1")).isTrue();
        assertThat(find("j1").state()).isEqualTo(StoredJob.STOPPED);
    }

    @ParameterizedTest
    @ValueSource(strings = {"jobs", "running"})
    void namesAKeyOfAnotherType(String name) {
        shard.redis().command("SET", PREFIX + name, "garbage");

        assertThatThrownBy(() -> create("j1"))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("The key " + PREFIX + name + " is not a sorted set");
    }

    /** Each script fails at each command that it executes: the same call again does the rest, and no job is lost. */
    @Test
    void doesTheRestWhereAScriptStoppedHalfWay() {
        try (FaultyShard faulty = new FaultyShard(script -> script)) {
            for (int command = 1; command <= 14; command++) {
                faulty.empty();
                JobStore broken = faulty.store.jobs();
                int at = command;
                Map<String, String> progress = Map.of("done", "1");
                faulty.failAt(at, false);
                faulty.attempt(store -> store.jobs().create("j1", LOCK, Map.of()));
                faulty.heal();
                if (broken.find("j1").isEmpty()) {
                    broken.create("j1", LOCK, Map.of());
                }
                faulty.failAt(at, false);
                faulty.attempt(store -> store.jobs().running());
                faulty.heal();
                assertThat(broken.running().free()).as("after " + at).containsExactly("j1");

                faulty.failAt(at, false);
                faulty.attempt(store -> store.jobs().take("j1", "n1"));
                faulty.heal();
                assertThat(broken.take("j1", "n1")).isTrue();
                broken.stop("j1");
                faulty.failAt(at, false);
                faulty.attempt(store -> store.jobs().save("j1", "n1", StoredJob.RUNNING, progress));
                faulty.heal();
                broken.save("j1", "n1", StoredJob.RUNNING, progress);
                assertThat(find(broken).state()).as("after " + at).isEqualTo(StoredJob.STOPPED);

                faulty.failAt(at, false);
                faulty.attempt(store -> store.jobs().resume("j1"));
                faulty.heal();
                broken.resume("j1");
                assertThat(find(broken).isRunning()).as("after " + at).isTrue();
                expire(faulty);
                assertThat(broken.take("j1", "n2")).as("after " + at).isTrue();
                broken.stop("j1");
                expire(faulty);
                faulty.failAt(at, false);
                faulty.attempt(store -> store.jobs().take("j1", "n3"));
                faulty.heal();
                broken.take("j1", "n3");
                assertThat(find(broken).state()).as("after " + at).isEqualTo(StoredJob.STOPPED);
                broken.running();
                assertThat(faulty.redis().command("EXISTS", PREFIX + "running")).isEqualTo(0L);
            }
        }
    }

    private static StoredJob find(JobStore broken) {
        return broken.find("j1").orElseThrow();
    }

    private static void expire(FaultyShard faulty) {
        faulty.redis().command("DEL", PREFIX + "lock:" + LOCK);
    }

    @Test
    void worksWhenRedisIsFull() {
        shard.redis().command("CONFIG", "SET", "maxmemory", "1");
        try {
            create("j1");
            assertThat(jobs.running().free()).containsExactly("j1");
            assertThat(jobs.take("j1", "n1")).isTrue();
            assertThat(jobs.stop("j1")).isTrue();
            assertThat(jobs.save("j1", "n1", StoredJob.RUNNING, Map.of("done", "1")))
                    .isEqualTo(Saved.STOPPED);
            assertThat(jobs.resume("j1")).isTrue();
            assertThat(jobs.list()).hasSize(1);
        } finally {
            shard.redis().command("CONFIG", "SET", "maxmemory", "0");
        }
        assertThat(List.of(find("j1").state())).containsExactly(StoredJob.RUNNING);
    }
}
