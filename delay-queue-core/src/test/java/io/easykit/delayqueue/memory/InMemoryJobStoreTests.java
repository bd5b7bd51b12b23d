package io.easykit.delayqueue.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.store.JobStore;
import io.easykit.delayqueue.store.JobStoreContract;
import java.util.Map;
import org.junit.jupiter.api.Test;

class InMemoryJobStoreTests extends JobStoreContract {

    private static final long DAY = 86_400_000;

    private long millis = 1000;
    private final InMemoryJobStore jobs = new InMemoryJobStore(() -> millis * 1000);

    @Override
    protected JobStore jobs() {
        return jobs;
    }

    @Override
    protected void clock(long now) {
        millis = now;
    }

    @Override
    protected void expireLock() {
        jobs.expireLock(LOCK);
    }

    @Override
    protected void expireJob(String id) {
        jobs.expireJob(id);
    }

    @Test
    void forgetsAJobADayAfterItsLastChangeUnlessItWaits() {
        create("j1");
        create("waits");
        jobs.create("alone", "read:alone", Map.of());
        for (int hour = 1; hour <= 47; hour++) {
            clock(1000 + hour * DAY / 24);
            jobs.take("j1", "n1");
            jobs.running();
        }

        assertThat(jobs.find("waits")).isPresent();
        assertThat(jobs.find("alone")).isEmpty();
        clock(1000 + 3 * DAY);
        assertThat(jobs.find("waits")).isEmpty();
    }
}
