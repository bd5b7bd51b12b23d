package io.easykit.delayqueue.actuate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.easykit.boot.ShownValues;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.FleetAdmin;
import io.easykit.delayqueue.admin.Job;
import io.easykit.delayqueue.admin.JobRequest;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class QueueReadsTests {

    private static final Instant NOW = Instant.ofEpochMilli(5);

    private final DelayQueueAdmin admin = mock(DelayQueueAdmin.class);
    private final QueueReads reads = new QueueReads(
            admin,
            mock(FleetAdmin.class),
            new QueueViews(Instant::toString),
            new MessageViews(new ShownValues(null), Instant::toString));

    /** It is part of a body or a header value. */
    @Test
    void hidesTheTextOfAJobFromUsersWhoMayNotSeeValues() {
        JobRequest request = JobRequest.search("orders", "jane@example.com");
        when(admin.jobs())
                .thenReturn(List.of(new Job(
                        "1", request, Job.State.DONE, NOW, NOW, "node", 9, 9, 1, 0, 0, 0, null, List.of(), List.of())));

        assertThat(reads.view("jobs", new Fields(), true)).asString().contains("jane@example.com");
        assertThat(reads.view("jobs", new Fields(), false))
                .asString()
                .contains("search")
                .doesNotContain("jane@example.com");
    }
}
