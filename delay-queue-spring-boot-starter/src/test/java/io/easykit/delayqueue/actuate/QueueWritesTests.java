package io.easykit.delayqueue.actuate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import io.easykit.boot.AuditKeeper;
import io.easykit.boot.OperatorAudit;
import io.easykit.delayqueue.StoreFullException;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.TopicConflictException;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.FleetAdmin;
import io.easykit.delayqueue.admin.MessageRef;
import io.easykit.delayqueue.admin.UnknownTopicException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class QueueWritesTests {

    private final DelayQueueAdmin admin = mock(DelayQueueAdmin.class);
    private final FleetAdmin fleet = mock(FleetAdmin.class);
    private final List<Map<String, Object>> kept = new ArrayList<>();
    private final AuditKeeper keeper = entry -> kept.add(new LinkedHashMap<>(entry));
    private final QueueWrites writes = new QueueWrites(
            admin, fleet, new QueueViews(Instant::toString), new OperatorAudit("node", () -> 5, keeper, event -> {}));

    private Map<String, Object> stopJob() {
        return writes.change("stop-job", new Fields().with("topic", "orders").with("id", "j1"), "ada");
    }

    @Test
    void stopsAJobThatItCannotRead() {
        when(admin.stopJob("j1")).thenReturn(true, false);

        assertThat(stopJob()).containsEntry("outcome", "stopping");
        assertThatThrownBy(this::stopJob).isInstanceOfSatisfying(EndpointRefusal.class, refusal -> assertThat(
                        refusal.problem().status())
                .isEqualTo(409));
        assertThat(kept.get(0)).containsEntry("filter", "job j1").containsEntry("count", 0);
    }

    @Test
    void pausesForAUserWithALongName() {
        writes.change("pause", new Fields().with("topic", "orders"), "a".repeat(250));

        verify(fleet).pause("orders", "a".repeat(200));
    }

    @Test
    void resumesATopicThatWasPausedBeforeItsFirstUse() {
        UnknownTopicException unknown = new UnknownTopicException("orders", List.of("mails"));
        doThrow(unknown).when(fleet).requireUsed("orders");
        when(fleet.resume("orders")).thenReturn(1, 0);
        Fields fields = new Fields().with("topic", "orders");

        assertThat(writes.change("resume", fields, "ada")).containsEntry("outcome", "resumed");
        assertThatThrownBy(() -> writes.change("resume", fields, "ada")).isSameAs(unknown);
        assertThatThrownBy(() -> writes.change("pause", fields, "ada")).isSameAs(unknown);
        assertThat(kept.get(kept.size() - 1)).containsEntry("outcome", "refused");
        verify(fleet, never()).pause("orders", "ada");
    }

    private String outcome(String action, RuntimeException failure) {
        doThrow(failure).when(fleet).pause("orders", "ada");
        doThrow(failure).when(admin).cancel("orders", List.of(new MessageRef("1", null)));
        doThrow(failure).when(admin).growShards("orders", 4);
        Fields fields = new Fields()
                .with("topic", "orders")
                .with("id", action.equals("cancel") ? "1" : null)
                .with("shards", action.equals("grow") ? "4" : null);

        assertThatThrownBy(() -> writes.change(action, fields, "ada")).isSameAs(failure);
        return String.valueOf(kept.get(kept.size() - 1).get("outcome"));
    }

    @Test
    void recordsWhetherAChangeMayHaveBeenMade() {
        assertThat(outcome("cancel", new StoreUnavailableException("No reply.", new RuntimeException())))
                .isEqualTo("unknown");
        assertThat(outcome("pause", new StoreRefusedException("Shard 3 is a list.", null)))
                .isEqualTo("unknown");
        assertThat(outcome("pause", new StoreFullException("No memory.", new RuntimeException())))
                .isEqualTo("unknown");
        assertThat(outcome("grow", new StoreUnavailableException("No reply.", new RuntimeException())))
                .isEqualTo("unknown");
        assertThat(outcome("grow", new StoreRefusedException("Shard 0 is a list.", null)))
                .isEqualTo("unknown");
    }

    @Test
    void recordsThatNothingWasChanged() {
        assertThat(outcome("cancel", StoreUnavailableException.notCarriedOut("Away.", new RuntimeException())))
                .isEqualTo("failed");
        assertThat(outcome("grow", StoreUnavailableException.notCarriedOut("Away.", new RuntimeException())))
                .isEqualTo("failed");
        assertThat(outcome("cancel", new TopicConflictException("4 shards.", "Set 4.")))
                .isEqualTo("refused");
        assertThatThrownBy(() -> writes.change("cancel", new Fields().with("topic", "orders"), "ada"))
                .isInstanceOf(EndpointRefusal.class);
        assertThat(kept.get(kept.size() - 1)).containsEntry("outcome", "refused");
    }
}
