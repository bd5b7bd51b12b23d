package io.easykit.console;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.easykit.console.ConsoleAccess.ShowValues;
import io.easykit.console.queue.JobApi;
import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.ErrorGroup;
import io.easykit.delayqueue.admin.ErrorGroups;
import io.easykit.delayqueue.admin.FleetAdmin;
import io.easykit.delayqueue.admin.Job;
import io.easykit.delayqueue.admin.JobRequest;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A text that an operator searches for is part of a body or a header value, or shows that there is none. */
class SearchedTextTests {

    private static final Instant NOW = Instant.ofEpochMilli(5);
    private static final String TEXT = "jane@example.com";

    private final DelayQueueAdmin admin = mock(DelayQueueAdmin.class);
    private final Console console = new Console(
            new ConsoleAccess(
                    ConsoleAccess.Mode.ROLES, "VIEW", "OPERATE", false, ShowValues.WHEN_AUTHORIZED, List.of()),
            new ConsoleInfo("/easykit", "node", Map.of(), null, null, List.of()),
            List.of(new JobApi(admin, mock(FleetAdmin.class), ConsoleMeters.NONE)),
            new Audit("node", null, 10, () -> 5, event -> {}),
            ConsoleMeters.NONE);

    @BeforeEach
    void search() {
        DeadLetterRef death = new DeadLetterRef("order-1", NOW);
        ErrorGroups.Count count = new ErrorGroups.Count(ErrorGroup.of("closed"), 1, NOW, NOW, death);
        Job searched = job("1", JobRequest.search("orders", TEXT), List.of(), List.of(death));
        Job grouped = job("2", JobRequest.group("orders").containing(TEXT), List.of(count), List.of());
        Job all = job("3", JobRequest.group("orders"), List.of(count), List.of());
        for (Job job : List.of(searched, grouped, all)) {
            when(admin.job(job.id())).thenReturn(Optional.of(job));
        }
        when(admin.jobs()).thenReturn(List.of(searched, grouped, all));
        when(admin.start(any())).thenReturn(searched);
        String body =
                "{\"topic\":\"orders\",\"action\":\"search\",\"perSecond\":7,\"select\":{\"text\":\"" + TEXT + "\"}}";
        assertThat(send("ada", "POST", "/api/jobs", Map.of(), body)).contains(TEXT, "order-1");
    }

    private static Job job(String id, JobRequest request, List<ErrorGroups.Count> groups, List<DeadLetterRef> matches) {
        return new Job(id, request, Job.State.DONE, NOW, NOW, "node", 9, 9, 1, 0, 0, 0, null, groups, matches);
    }

    private String get(String user, String path) {
        return send(user, "GET", path, Map.of(), "");
    }

    private String job(String user, String id) {
        return send(user, "GET", "/api/job", Map.of("id", List.of(id)), "");
    }

    private String send(String user, String method, String path, Map<String, List<String>> query, String body) {
        Map<String, String> headers =
                Map.of("Host", "ops.internal", "Content-Type", "application/json", "X-Easykit-Console", "1");
        ConsoleReply reply = console.handle(new ConsoleRequest(
                method,
                path,
                query,
                name -> headers.containsKey(name) ? List.of(headers.get(name)) : List.of(),
                "10.0.0.1",
                user,
                role -> role.equals(user.equals("ada") ? "OPERATE" : "VIEW"),
                () -> null,
                most -> body.getBytes(UTF_8)));
        assertThat(reply.status()).as(Calls.text(reply)).isBetween(200, 202);
        return Calls.text(reply);
    }

    @Test
    void isShownToTheOperator() {
        assertThat(get("ada", "/api/jobs")).contains(TEXT);
        assertThat(job("ada", "1")).contains(TEXT, "\"matches\":[{\"id\":\"order-1\"");
        assertThat(job("ada", "2")).contains(TEXT, "\"groups\":[{");
        assertThat(get("ada", "/api/audit")).contains("search, 7 a second, text " + TEXT);
    }

    @Test
    void isHiddenFromUsersWhoMayNotSeeValues() {
        assertThat(get("eve", "/api/jobs")).contains("\"action\":\"search\"").doesNotContain(TEXT);
        assertThat(job("eve", "1")).contains("\"matched\":1").doesNotContain(TEXT, "order-1");
        assertThat(job("eve", "2")).contains("\"matched\":1").doesNotContain(TEXT, "order-1", "closed");
        assertThat(get("eve", "/api/audit"))
                .contains("search, 7 a second, text ******")
                .doesNotContain(TEXT);
    }

    @Test
    void doesNotHideWhatIsFoundWithoutOne() {
        assertThat(job("eve", "3")).contains("\"groups\":[{", "order-1");
    }
}
