package io.easykit.delayqueue.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.store.JobStore;
import io.easykit.delayqueue.store.JobStore.Saved;
import io.easykit.delayqueue.store.StoredJob;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The scripts of jobs, with the clock of the test; their locks expire by the server's own. */
class JobScriptTests {

    private static final String PREFIX = "dq:{console}:";

    private final TestShard shard = new TestShard();
    private final JobStore jobs = shard.store.jobs();

    @AfterEach
    void close() {
        shard.close();
    }

    private StoredJob find(String id) {
        return jobs.find(id).orElseThrow();
    }

    private void create(String id) {
        jobs.create(id, "orders", Map.of("action", "purge"));
    }

    /** As 15 seconds do. */
    private void expireLock() {
        assertThat(shard.redis().command("DEL", PREFIX + "lock:orders")).isEqualTo(1L);
    }

    @Test
    void keepsAJobForADay() {
        assertThat(jobs.create("j1", "orders", Map.of("action", "purge", "note", "\u00e9 \n")))
                .isEqualTo(Instant.ofEpochMilli(1000));

        StoredJob job = find("j1");
        assertThat(job.state()).isEqualTo(StoredJob.RUNNING);
        assertThat(job.taken()).isFalse();
        assertThat(job.node()).isNull();
        assertThat(job.created()).isEqualTo(Instant.ofEpochMilli(1000));
        assertThat(job.fields()).containsEntry("action", "purge").containsEntry("note", "\u00e9 \n");
        assertThat((Long) shard.redis().command("PTTL", PREFIX + "job:j1")).isBetween(86_000_000L, 86_400_000L);
        assertThat((Long) shard.redis().command("PTTL", PREFIX + "jobs")).isBetween(86_000_000L, 86_400_000L);
        assertThat(shard.redis().snapshot().keySet().stream().filter(key -> !key.startsWith("test:")))
                .allMatch(key -> key.startsWith(PREFIX));
        assertThatThrownBy(() -> create("j1")).isInstanceOf(StoreRefusedException.class);
        assertThat(jobs.find("j2")).isEmpty();
    }

    @Test
    void listsTheLatestChangeFirstAndForgetsTheOld() {
        create("j1");
        shard.clock(2000);
        create("j2");
        assertThat(jobs.list()).extracting(StoredJob::id).containsExactly("j2", "j1");
        shard.clock(3000);
        assertThat(jobs.take("j1", "n1")).isTrue();
        jobs.save("j1", "n1", StoredJob.RUNNING, Map.of());
        assertThat(jobs.list()).extracting(StoredJob::id).containsExactly("j1", "j2");

        shard.clock(86_402_500);
        create("j3");
        assertThat(jobs.list()).extracting(StoredJob::id).containsExactly("j3", "j1");
    }

    @Test
    void isTakenByOneNodeAtATime() {
        create("j1");
        create("j2");

        assertThat(jobs.take("j1", "n1")).isTrue();
        assertThat(jobs.take("j1", "n1")).as("again").isTrue();
        assertThat(jobs.take("j1", "n2")).isFalse();
        assertThat(jobs.take("j2", "n1")).as("of the same lock").isFalse();
        assertThat(find("j1").taken()).isTrue();
        assertThat(find("j1").node()).isEqualTo("n1");
        assertThat(find("j2").taken()).isFalse();
        assertThat((Long) shard.redis().command("PTTL", PREFIX + "lock:orders")).isBetween(10_000L, 15_000L);

        expireLock();
        assertThat(jobs.take("j1", "n2")).isTrue();
        assertThat(jobs.save("j1", "n1", StoredJob.RUNNING, Map.of("done", "7")))
                .isEqualTo(Saved.LOST);
        assertThat(find("j1").fields()).doesNotContainKey("done");
        assertThat(jobs.save("j1", "n2", StoredJob.RUNNING, Map.of("done", "8")))
                .isEqualTo(Saved.GO_ON);
        assertThat(find("j1").fields()).containsEntry("done", "8");
        assertThat(jobs.take("unknown", "n1")).isFalse();
    }

    @Test
    void releasesTheLockAtItsEnd() {
        create("j1");
        create("j2");
        jobs.take("j1", "n1");
        shard.clock(5000);

        assertThat(jobs.save("j1", "n1", "done", Map.of())).isEqualTo(Saved.GO_ON);

        assertThat(find("j1").state()).isEqualTo("done");
        assertThat(find("j1").updated()).isEqualTo(Instant.ofEpochMilli(5000));
        assertThat(jobs.take("j1", "n1")).isFalse();
        assertThat(jobs.take("j2", "n2")).isTrue();
        assertThat(jobs.stop("j1")).isFalse();
        assertThat(jobs.resume("j1")).isFalse();
    }

    @Test
    void stopsAndContinues() {
        create("j1");
        assertThat(jobs.stop("j1")).as("that no node has taken").isTrue();
        assertThat(find("j1").state()).isEqualTo(StoredJob.STOPPED);
        assertThat(jobs.stop("j1")).isFalse();
        assertThat(jobs.resume("j1")).isTrue();
        assertThat(jobs.resume("j1")).isFalse();

        jobs.take("j1", "n1");
        assertThat(jobs.stop("j1")).isTrue();
        assertThat(find("j1").state()).as("until its node stores something").isEqualTo(StoredJob.RUNNING);
        assertThat(jobs.save("j1", "n1", StoredJob.RUNNING, Map.of("done", "3")))
                .isEqualTo(Saved.STOPPED);
        assertThat(find("j1").state()).isEqualTo(StoredJob.STOPPED);
        assertThat(find("j1").taken()).isFalse();
        assertThat(find("j1").fields()).containsEntry("done", "3").doesNotContainKey("wish");

        assertThat(jobs.resume("j1")).isTrue();
        jobs.take("j1", "n2");
        assertThat(jobs.stop("j1")).isTrue();
        assertThat(jobs.resume("j1")).as("before the node has seen the wish").isTrue();
        assertThat(jobs.save("j1", "n2", StoredJob.RUNNING, Map.of())).isEqualTo(Saved.GO_ON);
        assertThat(jobs.stop("unknown")).isFalse();
        assertThat(jobs.resume("unknown")).isFalse();
    }

    @Test
    void worksWhenRedisIsFull() {
        shard.redis().command("CONFIG", "SET", "maxmemory", "1");
        try {
            create("j1");
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
