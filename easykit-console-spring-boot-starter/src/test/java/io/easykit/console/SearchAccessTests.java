package io.easykit.console;

import static io.easykit.console.Calls.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import io.easykit.console.ConsoleAccess.ShowValues;
import io.easykit.console.queue.JobApi;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.FleetAdmin;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A text also matches bodies and header values, so one text after the other could find these out. */
class SearchAccessTests {

    private final DelayQueueAdmin admin = mock(DelayQueueAdmin.class);

    private ConsoleReply send(ShowValues shown, boolean isReadOnly, String method, String path, String body) {
        ConsoleAccess access =
                new ConsoleAccess(ConsoleAccess.Mode.EVERYONE, "VIEW", "OPERATE", isReadOnly, shown, List.of());
        return Calls.send(access, new JobApi(admin, mock(FleetAdmin.class), ConsoleMeters.NONE), method, path, body);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"topic\":\"orders\",\"action\":\"search\",\"select\":{\"text\":\"4\"}}",
                "{\"topic\":\"orders\",\"action\":\"search\",\"text\":\"4\"}",
                "{\"topic\":\"orders\",\"action\":\"group\",\"select\":{\"text\":\"4\"}}",
                "{\"topic\":\"orders\",\"action\":\"redrive\",\"select\":{\"group\":\"0123456789abcdef\",\"text\":\"4\"}}",
                "{\"topic\":\"orders\",\"action\":\"purge\",\"confirm\":\"orders\",\"select\":{\"text\":\"4\"}}"
            })
    void refusesATextOfUsersWhoMayNotSeeValues(String body) {
        when(admin.start(any())).thenThrow(new IllegalArgumentException("It was started."));

        ConsoleReply refused = send(ShowValues.NEVER, false, "POST", "/api/jobs", body);

        assertThat(refused.status()).as(text(refused)).isEqualTo(403);
        assertThat(text(refused)).contains("easykit.console.show-values is never", "Change this setting");
        verify(admin, never()).start(any());
        assertThat(text(send(ShowValues.WHEN_AUTHORIZED, false, "POST", "/api/jobs", body)))
                .contains("It was started.");
    }

    @Test
    void startsJobsWithoutATextForUsersWhoMayNotSeeValues() {
        when(admin.start(any())).thenThrow(new IllegalArgumentException("It was started."));

        ConsoleReply reply = send(
                ShowValues.NEVER,
                false,
                "POST",
                "/api/jobs",
                "{\"topic\":\"orders\",\"action\":\"redrive\",\"select\":{\"all\":true}}");

        assertThat(text(reply)).contains("It was started.");
    }

    /** The page shows its button for this feature. */
    @Test
    void offersTheSearchToUsersWhoMaySearch() {
        assertThat(text(send(ShowValues.WHEN_AUTHORIZED, false, "GET", "/api/session", "")))
                .contains("\"features\":[\"audit\",\"jobs\",\"search\"]");
        assertThat(text(send(ShowValues.NEVER, false, "GET", "/api/session", "")))
                .contains("\"features\":[\"audit\",\"jobs\"]");
        assertThat(text(send(ShowValues.ALWAYS, true, "GET", "/api/session", "")))
                .contains("\"features\":[\"audit\",\"jobs\"]");
    }
}
