package io.easykit.delayqueue.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.store.JobStore.Running;
import io.easykit.delayqueue.store.JobStore.Saved;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What each store of jobs does. */
public abstract class JobStoreContract {

    protected static final String LOCK = "orders";

    protected abstract JobStore jobs();

    /** Sets the store's clock; it is at 1000 in the beginning. */
    protected abstract void clock(long millis);

    /** As its 15 seconds do. */
    protected abstract void expireLock();

    /** As a day without a change does. */
    protected abstract void expireJob(String id);

    protected final StoredJob find(String id) {
        return jobs().find(id).orElseThrow();
    }

    protected final void create(String id) {
        jobs().create(id, LOCK, Map.of("action", "purge"));
    }

    @Test
    void keepsAJob() {
        assertThat(jobs().create("j1", LOCK, Map.of("action", "purge", "note", "\u00e9 \n")))
                .isEqualTo(Instant.ofEpochMilli(1000));

        StoredJob job = find("j1");
        assertThat(job.state()).isEqualTo(StoredJob.RUNNING);
        assertThat(job.taken()).isFalse();
        assertThat(job.node()).isNull();
        assertThat(job.created()).isEqualTo(Instant.ofEpochMilli(1000));
        assertThat(job.fields()).containsEntry("action", "purge").containsEntry("note", "\u00e9 \n");
        assertThat(jobs().find("j2")).isEmpty();
    }

    /** Some drivers repeat a command whose reply was lost. */
    @Test
    void aRepeatedCallFindsTheJobThatItHasCreated() {
        create("j1");
        jobs().take("j1", "n1");
        jobs().save("j1", "n1", StoredJob.RUNNING, Map.of("done", "7"));
        StoredJob begun = find("j1");
        clock(2000);

        assertThat(jobs().create("j1", LOCK, Map.of("action", "purge"))).isEqualTo(Instant.ofEpochMilli(1000));

        assertThat(find("j1")).isEqualTo(begun);
    }

    @Test
    void listsTheLatestChangeFirst() {
        create("j1");
        clock(2000);
        create("j2");
        assertThat(jobs().list()).extracting(StoredJob::id).containsExactly("j2", "j1");
        clock(3000);
        assertThat(jobs().take("j1", "n1")).isTrue();
        jobs().save("j1", "n1", StoredJob.RUNNING, Map.of());
        assertThat(jobs().list()).extracting(StoredJob::id).containsExactly("j1", "j2");
        clock(4000);
        jobs().stop("j2");
        assertThat(jobs().list()).extracting(StoredJob::id).containsExactly("j2", "j1");
        clock(5000);
        jobs().save("j1", "n1", "done", Map.of());
        clock(6000);
        jobs().resume("j2");
        assertThat(jobs().list()).extracting(StoredJob::id).containsExactly("j2", "j1");
    }

    @Test
    void listsTheRunningOnesHoweverManyChangedLater() {
        create("j1");
        for (int i = 0; i < 120; i++) {
            clock(2000 + i);
            jobs().create("k" + i, "read:k" + i, Map.of());
            jobs().stop("k" + i);
        }

        assertThat(jobs().list()).hasSize(101).last().extracting(StoredJob::id).isEqualTo("j1");
        assertThat(jobs().running()).isEqualTo(new Running(List.of("j1"), 0));
    }

    @Test
    void isTakenByOneNodeAtATime() {
        create("j1");
        create("j2");

        assertThat(jobs().take("j1", "n1")).isTrue();
        assertThat(jobs().take("j1", "n1")).as("again").isTrue();
        assertThat(jobs().take("j1", "n2")).isFalse();
        assertThat(jobs().take("j2", "n1")).as("of the same lock").isFalse();
        assertThat(find("j1").taken()).isTrue();
        assertThat(find("j1").node()).isEqualTo("n1");
        assertThat(find("j2").taken()).isFalse();

        expireLock();
        assertThat(jobs().take("j1", "n2")).isTrue();
        assertThat(jobs().save("j1", "n1", StoredJob.RUNNING, Map.of("done", "7")))
                .isEqualTo(Saved.LOST);
        assertThat(find("j1").fields()).doesNotContainKey("done");
        assertThat(jobs().save("j1", "n2", StoredJob.RUNNING, Map.of("done", "8")))
                .isEqualTo(Saved.GO_ON);
        assertThat(find("j1").fields()).containsEntry("done", "8");
        assertThat(jobs().take("unknown", "n1")).isFalse();
    }

    @Test
    void findsTheJobsWhoseLockIsFreeTheFirstOneFirst() {
        create("j2");
        clock(2000);
        create("j1");
        jobs().create("r1", "read:r1", Map.of());
        assertThat(jobs().running()).isEqualTo(new Running(List.of("j2", "j1", "r1"), 0));

        jobs().take("j2", "n1");
        jobs().take("r1", "n1");
        assertThat(jobs().running()).as("j1 waits").isEqualTo(new Running(List.of(), 3));
        clock(3000);
        jobs().save("j2", "n1", "limit_reached", Map.of());
        jobs().save("r1", "n1", "done", Map.of());
        assertThat(jobs().running()).isEqualTo(new Running(List.of("j1"), 0));
        jobs().resume("j2");
        assertThat(jobs().running()).isEqualTo(new Running(List.of("j1", "j2"), 0));
        jobs().stop("j1");
        expireJob("j2");
        assertThat(jobs().running()).isEqualTo(new Running(List.of(), 0));
    }

    @Test
    void refusesMoreThanAThousandThatRun() {
        for (int i = 0; i < 1000; i++) {
            jobs().create("k" + i, LOCK, Map.of());
        }
        assertThat(jobs().running().free()).hasSize(100);
        assertThat(jobs().running().others()).isEqualTo(900);
        create("k999");
        assertThatThrownBy(() -> create("j1"))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("1000 jobs run or wait");
        jobs().stop("k7");
        create("j1");
    }

    @Test
    void releasesTheLockAtItsEnd() {
        create("j1");
        create("j2");
        jobs().take("j1", "n1");
        clock(5000);

        assertThat(jobs().save("j1", "n1", "done", Map.of())).isEqualTo(Saved.GO_ON);

        assertThat(find("j1").state()).isEqualTo("done");
        assertThat(find("j1").updated()).isEqualTo(Instant.ofEpochMilli(5000));
        assertThat(jobs().take("j1", "n1")).isFalse();
        assertThat(jobs().take("j2", "n2")).isTrue();
        assertThat(jobs().stop("j1")).isFalse();
        assertThat(jobs().resume("j1")).isFalse();
    }

    @Test
    void stopsAtOnceIfTheNodeHasDiedThatWasToStop() {
        create("j1");
        jobs().take("j1", "n1");
        assertThat(jobs().stop("j1")).isTrue();
        assertThat(find("j1").state()).isEqualTo(StoredJob.RUNNING);
        expireLock();

        assertThat(jobs().stop("j1")).isTrue();

        assertThat(find("j1").state()).isEqualTo(StoredJob.STOPPED);
        assertThat(find("j1").fields()).doesNotContainKey("request");
        assertThat(jobs().stop("j1")).isFalse();
    }

    @Test
    void stopsAndContinues() {
        create("j1");
        assertThat(jobs().stop("j1")).as("that no node has taken").isTrue();
        assertThat(find("j1").state()).isEqualTo(StoredJob.STOPPED);
        assertThat(jobs().stop("j1")).isFalse();
        assertThat(jobs().resume("j1")).isTrue();
        assertThat(jobs().resume("j1")).isFalse();

        jobs().take("j1", "n1");
        assertThat(jobs().stop("j1")).isTrue();
        assertThat(jobs().stop("j1")).as("repeated").isTrue();
        assertThat(find("j1").state()).as("until its node stores something").isEqualTo(StoredJob.RUNNING);
        assertThat(jobs().save("j1", "n1", StoredJob.RUNNING, Map.of("done", "3")))
                .isEqualTo(Saved.STOPPED);
        assertThat(find("j1").state()).isEqualTo(StoredJob.STOPPED);
        assertThat(find("j1").taken()).isFalse();
        assertThat(find("j1").isHalted()).isTrue();
        assertThat(find("j1").fields()).containsEntry("done", "3").doesNotContainKey("request");

        assertThat(jobs().resume("j1")).isTrue();
        assertThat(find("j1").isHalted()).as("until progress is stored").isTrue();
        jobs().take("j1", "n2");
        assertThat(jobs().stop("j1")).isTrue();
        assertThat(jobs().resume("j1"))
                .as("before the node has seen the request")
                .isTrue();
        assertThat(jobs().save("j1", "n2", StoredJob.RUNNING, Map.of())).isEqualTo(Saved.GO_ON);
        assertThat(find("j1").isHalted()).isFalse();
        assertThat(jobs().stop("unknown")).isFalse();
        assertThat(jobs().resume("unknown")).isFalse();
    }

    /** Its node has died before it saw the request. */
    @Test
    void stopsAJobThatIsToStopInsteadOfHandingItToAnotherNode() {
        create("j1");
        jobs().take("j1", "n1");
        assertThat(jobs().stop("j1")).isTrue();
        assertThat(jobs().take("j1", "n2"))
                .as("while the node may see the request")
                .isFalse();
        assertThat(find("j1").state()).isEqualTo(StoredJob.RUNNING);

        expireLock();
        clock(7000);
        assertThat(jobs().take("j1", "n2")).isFalse();
        assertThat(find("j1").state()).isEqualTo(StoredJob.STOPPED);
        assertThat(find("j1").updated()).isEqualTo(Instant.ofEpochMilli(7000));
        assertThat(jobs().running()).isEqualTo(new Running(List.of(), 0));
        assertThat(jobs().save("j1", "n1", StoredJob.RUNNING, Map.of())).isEqualTo(Saved.LOST);
        assertThat(jobs().resume("j1")).isTrue();
        assertThat(jobs().take("j1", "n2")).isTrue();
    }

    @Test
    void stopsAJobThatIsToStopAlsoIfAnotherOneHoldsTheLockOrItsOwnNodeAsksAgain() {
        create("j1");
        create("j2");
        jobs().take("j1", "n1");
        jobs().stop("j1");
        expireLock();
        jobs().take("j2", "n2");
        assertThat(jobs().take("j1", "n3")).isFalse();
        assertThat(find("j1").state()).isEqualTo(StoredJob.STOPPED);
        assertThat(find("j2").taken()).isTrue();

        jobs().stop("j2");
        assertThat(jobs().take("j2", "n2")).isFalse();
        assertThat(find("j2").state()).isEqualTo(StoredJob.STOPPED);
        create("j3");
        assertThat(jobs().take("j3", "n3")).as("the lock is free").isTrue();
    }
}
