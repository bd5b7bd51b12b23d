package io.easykit.console;

import static io.easykit.console.Calls.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import io.easykit.console.ConsoleAccess.ShowValues;
import io.easykit.console.queue.FleetApi;
import io.easykit.delayqueue.admin.FleetAdmin;
import io.easykit.delayqueue.admin.NodeInfo;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A node keeps the pause request for a listener that it does not have, and ignores it. */
class PausedListenerTests {

    private final FleetAdmin fleet = mock(FleetAdmin.class);

    @BeforeEach
    void seed() {
        when(fleet.nodes()).thenReturn(List.of(node("a", "ship", "close"), node("b", "close", ""), node("c")));
        for (String node : List.of("a", "b", "c")) {
            when(fleet.pauseListener(eq(node), any(), any())).thenReturn(true);
            when(fleet.resumeListener(eq(node), any(), any())).thenReturn(true);
        }
    }

    private static NodeInfo node(String id, String... listeners) {
        return new NodeInfo(
                id,
                "shop",
                "host",
                Map.of(),
                Instant.EPOCH,
                Instant.EPOCH,
                Stream.of(listeners)
                        .map(listener -> new NodeInfo.Listener(listener, "orders", 0, 8, Duration.ZERO, null))
                        .toList());
    }

    private ConsoleReply send(String action, String node, String listener) {
        ConsoleAccess access =
                new ConsoleAccess(ConsoleAccess.Mode.EVERYONE, "VIEW", "OPERATE", false, ShowValues.ALWAYS, List.of());
        return Calls.send(
                access,
                new FleetApi(fleet),
                "POST",
                "/api/" + action,
                "{\"node\":\"" + node + "\",\"listener\":\"" + listener + "\"}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"pause", "resume"})
    void refusesAListenerThatTheNodeDoesNotRunAndNamesThoseThatItRuns(String action) {
        ConsoleReply reply = send(action, "a", "closed");

        assertThat(reply.status()).as(text(reply)).isEqualTo(404);
        assertThat(text(reply)).contains("'closed'", "[close, ship]");
        assertThat(send(action, "c", "close").status()).isEqualTo(404);
        verify(fleet, never()).pauseListener(any(), any(), any());
        verify(fleet, never()).resumeListener(any(), any(), any());
    }

    /** The node b has more listeners than it names. */
    @ParameterizedTest
    @CsvSource({"a, close, 200", "b, close, 200", "b, other, 200", "gone, close, 404"})
    void changesOthers(String node, String listener, int status) {
        for (String action : List.of("pause", "resume")) {
            ConsoleReply reply = send(action, node, listener);
            assertThat(reply.status()).as(text(reply)).isEqualTo(status);
        }
    }
}
