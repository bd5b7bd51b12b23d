package io.easykit.console;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;
import java.util.Map;

/** Calls of a console with one product, by the user ada. */
final class Calls {

    private Calls() {}

    static ConsoleReply send(ConsoleAccess access, ConsoleApi api, String method, String path, String body) {
        ConsoleInfo info = new ConsoleInfo("/easykit", "node", Map.of(), null, null, List.of());
        Audit audit = new Audit("node", null, 10, () -> 5, event -> {});
        Map<String, String> headers =
                Map.of("Host", "ops.internal", "Content-Type", "application/json", "X-Easykit-Console", "1");
        return new Console(access, info, List.of(api), audit, ConsoleMeters.NONE)
                .handle(new ConsoleRequest(
                        method,
                        path,
                        Map.of(),
                        name -> headers.containsKey(name) ? List.of(headers.get(name)) : List.of(),
                        "10.0.0.1",
                        "ada",
                        role -> true,
                        () -> null,
                        most -> body.getBytes(UTF_8)));
    }

    static String text(ConsoleReply reply) {
        return new String(reply.body(), UTF_8);
    }
}
