package io.easykit.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.console.ConsoleApi.Done;
import io.easykit.console.ConsoleApi.Planned;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;

class AuditTests {

    private static final Caller OPERATOR = new Caller("ada", "10.0.0.1", true, true, true);
    private static final Caller VIEWER = new Caller("eve", "10.0.0.2", false, false, true);

    private final List<String> lines = new ArrayList<>();
    private final List<AuditEvent> events = new ArrayList<>();
    private long now = 1_000_000;
    private final AuditStore store = new AuditStore() {
        @Override
        public void add(String line, int most) {
            lines.add(0, line);
        }

        @Override
        public List<String> read(long skip, int count) {
            return lines.stream().skip(skip).limit(count).toList();
        }
    };
    private final Audit audit = new Audit(
            "node", store, 1000, () -> now, event -> events.add(((AuditApplicationEvent) event).getAuditEvent()));

    private List<?> entries(Caller caller) {
        return (List<?>) audit.page(null, 100, caller).get("entries");
    }

    private Map<?, ?> latest(Caller caller) {
        return (Map<?, ?>) entries(caller).get(0);
    }

    private String why(Caller caller) {
        return ((EnglishText) latest(caller).get("why")).english();
    }

    private void fail(RuntimeException failure) {
        Planned planned = new Planned("orders", List.of("1"), "", () -> {
            throw failure;
        });
        assertThatThrownBy(() -> audit.around("purge", OPERATOR, planned, "")).isSameAs(failure);
    }

    @Test
    void hidesOldMessagesFromUsersWhoMayNotSaveBodies() {
        Map<String, Object> old =
                Map.of("sha256", "ab", "size", 6, "body", "s3cret", "headers", Map.of("token", "t0ken"));
        audit.around(
                "replace",
                OPERATOR,
                new Planned("orders", List.of("1"), "", () -> new Done(200, Map.of(), Map.of("old", old))),
                "");

        assertThat(latest(OPERATOR).get("old")).isEqualTo(old);
        assertThat(latest(VIEWER).get("old")).isEqualTo(Map.of("size", 6));
        assertThat(latest(new Caller("bob", "", true, true, false)).get("old")).isEqualTo(Map.of("size", 6));
        assertThat(events).singleElement().satisfies(event -> assertThat(event.getData())
                .doesNotContainKey("old"));
    }

    @Test
    void keepsTwentyRefusalsAMinute() {
        for (int i = 0; i < 30; i++) {
            audit.refused("purge", VIEWER, null, new Refusal(403, "no", ""));
        }
        assertThat(entries(VIEWER)).hasSize(20);
        assertThat(events).hasSize(30);

        now += 60_001;
        audit.refused("purge", VIEWER, null, new Refusal(403, "later", ""));
        assertThat(entries(VIEWER)).hasSize(21);
        assertThat(why(VIEWER)).isEqualTo("later");
        assertThat(latest(VIEWER).get("outcome")).isEqualTo("refused");
    }

    @Test
    void keepsAHundredRefusalsADay() {
        for (int i = 1; i <= 200; i++) {
            audit.refused("purge", VIEWER, null, new Refusal(403, "no " + i, ""));
            now += 60_001;
        }
        assertThat(why(VIEWER)).isEqualTo("no 100");

        now += 24 * 3_600_000;
        audit.refused("purge", VIEWER, null, new Refusal(403, "later", ""));
        assertThat(why(VIEWER)).isEqualTo("later");
    }

    @Test
    void keepsTheOutcomeAndTheReasonOfAChangeThatWasNotMade() {
        fail(new Refusal(409, "The job is done.", ""));
        assertThat(latest(OPERATOR).get("outcome")).isEqualTo("refused");
        assertThat(why(OPERATOR)).isEqualTo("The job is done.");

        fail(Refusal.ofUnknownOutcome("No reply.", "Check it.", "redis"));
        assertThat(latest(OPERATOR).get("outcome")).isEqualTo("unknown");
        assertThat(why(OPERATOR)).startsWith("No reply. The change may have been made");

        fail(new Refusal(503, "Redis did not answer. Nothing was changed.", "", "redis"));
        assertThat(latest(OPERATOR).get("outcome")).isEqualTo("failed");

        fail(new IllegalArgumentException("wrong"));
        assertThat(latest(OPERATOR).get("outcome")).isEqualTo("refused");

        fail(new IllegalStateException("bug"));
        assertThat(latest(OPERATOR).get("outcome")).isEqualTo("failed");
    }

    @Test
    void keepsTwentyIdsOfAChangeAndCountsAll() {
        List<String> ids = IntStream.range(0, 100).mapToObj(String::valueOf).toList();

        audit.around("cancel", OPERATOR, new Planned("orders", ids, "", Done::nothing), "ticket 12");

        assertThat(latest(OPERATOR).get("count")).isEqualTo(100);
        assertThat(latest(OPERATOR).get("ids")).isEqualTo(ids.subList(0, 20));
        assertThat(latest(OPERATOR).get("note")).isEqualTo("ticket 12");
    }
}
