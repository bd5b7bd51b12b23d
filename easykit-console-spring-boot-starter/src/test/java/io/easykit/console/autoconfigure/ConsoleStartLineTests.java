package io.easykit.console.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.console.Audit;
import io.easykit.console.Console;
import io.easykit.console.ConsoleAccess;
import io.easykit.console.ConsoleInfo;
import io.easykit.console.ConsoleMeters;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.mock.env.MockEnvironment;

@ExtendWith(OutputCaptureExtension.class)
class ConsoleStartLineTests {

    private final Console console = new Console(
            new ConsoleAccess(
                    ConsoleAccess.Mode.LOOPBACK, "VIEW", "OPERATE", false, ConsoleAccess.ShowValues.ALWAYS, List.of()),
            new ConsoleInfo("/easykit", "node", Map.of(), null, null, List.of()),
            List.of(),
            new Audit("node", null, 10, () -> 5, event -> {}),
            ConsoleMeters.NONE);

    @Test
    void namesThePort(CapturedOutput output) {
        start(false, new MockEnvironment().withProperty("local.server.port", "8081"));
        assertThat(output).contains("The console is at /easykit/ on port 8081, for requests");
    }

    /** In tests without a server, and in the server of a WAR. */
    @Test
    void namesNoPortWhereNoneIsKnown(CapturedOutput output) {
        start(false, new MockEnvironment());
        start(true, new MockEnvironment());
        assertThat(output)
                .contains("The console is at /easykit/, for requests")
                .contains("The console is at /easykit/, open to requests")
                .doesNotContain("port");
    }

    @Test
    void isSilentAboutADisabledConsole(CapturedOutput output) {
        start(ServedConsole.disabled("/easykit"), new MockEnvironment());
        assertThat(output).doesNotContain("The console");
    }

    private void start(boolean open, MockEnvironment environment) {
        start(new ServedConsole(console, "/easykit", "requests", open), environment);
    }

    private static void start(ServedConsole served, MockEnvironment environment) {
        try (GenericApplicationContext context = new GenericApplicationContext()) {
            context.setEnvironment(environment);
            new ConsoleStartLine(served)
                    .onApplicationEvent(
                            new ApplicationReadyEvent(new SpringApplication(), new String[0], context, Duration.ZERO));
        }
    }
}
