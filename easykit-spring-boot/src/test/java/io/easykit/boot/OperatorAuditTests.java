package io.easykit.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.boot.OperatorAudit.Outcome;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationEventPublisher;

@ExtendWith(OutputCaptureExtension.class)
class OperatorAuditTests {

    private final List<Map<String, Object>> kept = new ArrayList<>();
    private final List<AuditEvent> events = new ArrayList<>();
    private final AuditKeeper keeper = entry -> kept.add(new LinkedHashMap<>(entry));
    private final ApplicationEventPublisher publisher =
            event -> events.add(((AuditApplicationEvent) event).getAuditEvent());
    private final OperatorAudit audit = new OperatorAudit("node", () -> 5, keeper, publisher);

    private static <T> T change(OperatorAudit audit, Supplier<T> change) {
        return audit.around(
                audit.entry("jobs/stop-all", "ada", "10.0.0.1"),
                change,
                done -> Map.of("moved", done, "old", "s3cret"),
                failure -> failure instanceof IllegalStateException ? Outcome.UNKNOWN : Outcome.REFUSED);
    }

    @Test
    void recordsAChangeBeforeAndAfterIt(CapturedOutput output) {
        List<Object> before = new ArrayList<>();

        assertThat(change(audit, () -> {
                    before.add(kept.get(0).get("outcome"));
                    return 3;
                }))
                .isEqualTo(3);

        assertThat(before).containsExactly("begun");
        assertThat(kept.get(1)).containsEntry("id", kept.get(0).get("id")).containsEntry("outcome", "done");
        assertThat(kept.get(1)).containsEntry("old", "s3cret");
        assertThat(events).singleElement().satisfies(event -> {
            assertThat(event.getType()).isEqualTo("EASYKIT_JOBS_STOP_ALL");
            assertThat(event.getPrincipal()).isEqualTo("ada");
            assertThat(event.getData())
                    .containsEntry("outcome", "done")
                    .containsEntry("from", "10.0.0.1")
                    .containsEntry("at", 5L)
                    .containsEntry("node", "node")
                    .doesNotContainKey("old");
        });
        assertThat(output)
                .contains("jobs/stop-all begun by ada", "jobs/stop-all done by ada")
                .doesNotContain("s3cret");
    }

    @Test
    void keepsTheReasonOfAChangeThatWasRefusedOrMayHaveBeenMade() {
        IllegalStateException lost = new IllegalStateException("no reply");

        assertThatThrownBy(() -> change(audit, () -> {
                    throw lost;
                }))
                .isSameAs(lost);
        assertThatThrownBy(() -> change(audit, () -> {
                    throw new IllegalArgumentException("wrong");
                }))
                .hasMessage("wrong");

        assertThat(kept.get(1)).containsEntry("outcome", "unknown").containsEntry("why", "no reply");
        assertThat(kept.get(3)).containsEntry("outcome", "refused").containsEntry("why", "wrong");
        assertThat(events.get(0).getData()).containsEntry("outcome", "unknown");
    }

    @Test
    void makesTheChangeIfAListenerOrTheKeeperFails(CapturedOutput output) {
        OperatorAudit failing = new OperatorAudit(
                "node",
                () -> 5,
                entry -> {
                    throw new IllegalStateException("keeper is away");
                },
                event -> {
                    throw new IllegalArgumentException("listener fails");
                });

        assertThat(change(failing, () -> 3)).isEqualTo(3);
        assertThatThrownBy(() -> change(failing, () -> {
                    throw new UnsupportedOperationException("own");
                }))
                .hasMessage("own");
        failing.note(failing.entry("body", "ada", ""), Outcome.DONE, true);

        assertThat(output)
                .contains("A listener of audit events failed at jobs/stop-all done")
                .contains("could not be kept", "keeper is away", "listener fails");
    }

    /** The list would have an outcome of nothing, which no page shows. */
    @Test
    void keepsTheWholeEntryIfItsFirstPartWasNotKept() {
        List<Map<String, Object>> later = new ArrayList<>();
        AtomicBoolean isAway = new AtomicBoolean(true);
        OperatorAudit once = new OperatorAudit(
                "node",
                () -> 5,
                entry -> {
                    if (isAway.getAndSet(false)) {
                        throw new IllegalStateException("keeper is away");
                    }
                    later.add(Map.copyOf(entry));
                },
                event -> {});

        assertThat(change(once, () -> 3)).isEqualTo(3);

        assertThat(later).hasSize(1);
        assertThat(later.get(0)).containsEntry("action", "jobs/stop-all").containsEntry("outcome", "done");
    }

    @Test
    void writesEachEntryInOneLine(CapturedOutput output) {
        Map<String, Object> entry = audit.entry("body", "ada\nbody done by eve", "\u001b[31m\r\u2028");
        entry.put("ids", List.of("a\nb", "\u202Ec", "\u0085d\u009B2J", "\u2029e"));

        audit.note(entry, Outcome.REFUSED, false);

        assertThat(kept).isEmpty();
        String line = output.getOut()
                .lines()
                .filter(one -> one.contains("easykit.audit"))
                .findFirst()
                .orElseThrow();
        assertThat(line)
                .contains("body refused by ada?body done by eve", "a?b", "?c", "?d?2J", "?e", "from=?[31m??")
                .doesNotContain("\u2028", "\u2029", "\u202E", "\u001b", "\u0085", "\u009B");
    }

    @Test
    void cutsLongTexts() {
        assertThat(audit.entry("body", "a".repeat(400), "b".repeat(300)))
                .containsEntry("who", "a".repeat(300) + "…")
                .containsEntry("from", "b".repeat(300));
    }
}
