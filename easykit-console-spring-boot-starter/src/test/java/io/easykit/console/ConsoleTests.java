package io.easykit.console;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.console.ConsoleApi.Planned;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;

/** Changes that are refused before they begin, and rules about the page that sends them. */
class ConsoleTests {

    private static final String CHANGE = "{\"topic\":\"orders\",\"confirm\":\"orders\"}";

    private final List<AuditEvent> events = new ArrayList<>();
    private final AtomicInteger changed = new AtomicInteger();
    private final AtomicInteger read = new AtomicInteger();

    private final ConsoleApi api = new ConsoleApi() {
        @Override
        public Set<String> features() {
            return Set.of();
        }

        @Override
        public Map<String, Read> reads() {
            Read counted = (request, caller) -> Map.of("read", read.incrementAndGet());
            Read broken = (request, caller) -> {
                throw new NoClassDefFoundError("Currency");
            };
            Read exhausted = (request, caller) -> {
                throw new InternalError("of the test");
            };
            return Map.of(
                    "export", counted, "body", counted, "topics", counted, "message", broken, "groups", exhausted);
        }

        @Override
        public Map<String, Change> changes() {
            return Map.of("purge", (input, caller) -> {
                input.requireConfirmed(input.required("topic"), "topic");
                return new Planned("orders", List.of("1"), "", () -> {
                    throw Refusal.ofUnknownOutcome("No reply.", "Check it.", "redis");
                });
            });
        }

        @Override
        public void changed() {
            changed.incrementAndGet();
        }
    };

    private ConsoleReply post(String body, Map<String, String> headers, String... origins) {
        return send("POST", "/api/purge", body, headers, origins);
    }

    private ConsoleReply send(String method, String path, String body, Map<String, String> headers, String... origins) {
        ConsoleAccess access = new ConsoleAccess(
                ConsoleAccess.Mode.EVERYONE,
                "VIEW",
                "OPERATE",
                false,
                ConsoleAccess.ShowValues.ALWAYS,
                List.of(origins));
        Audit audit = new Audit(
                "node", null, 10, () -> 5, event -> events.add(((AuditApplicationEvent) event).getAuditEvent()));
        ConsoleInfo info = new ConsoleInfo("/easykit", "node", Map.of(), null, null, List.of());
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

    private static Map<String, String> headers(String... more) {
        Map<String, String> headers = new HashMap<>(
                Map.of("Host", "ops.internal", "Content-Type", "application/json", "X-Easykit-Console", "1"));
        for (int i = 0; i < more.length; i += 2) {
            headers.put(more[i], more[i + 1]);
        }
        return headers;
    }

    private static String text(ConsoleReply reply) {
        return new String(reply.body(), UTF_8);
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '~',
            delimiter = '|',
            value = {
                "{\"topic\":\"orders\",\"confirm\":\"order\",\"note\":\"ticket 1\"} | 400 | was not confirmed",
                "{\"confirm\":\"orders\"}                   | 400 | field topic",
                "{\"topic\":7}                              | 400 | field topic",
                "[1]                                        | 400 | not a JSON object"
            })
    void recordsAChangeWhosePlanIsRefused(String body, int status, String why) {
        assertThat(post(body, headers()).status()).isEqualTo(status);

        assertThat(events).singleElement().satisfies(event -> {
            assertThat(event.getType()).isEqualTo("EASYKIT_PURGE");
            assertThat(event.getPrincipal()).isEqualTo("ada");
            assertThat(event.getData()).containsEntry("outcome", "refused");
            assertThat(event.getData().get("why").toString()).contains(why);
        });
        if (body.contains("ticket")) {
            assertThat(events.get(0).getData()).containsEntry("topic", "orders").containsEntry("note", "ticket 1");
        }
    }

    @Test
    void recordsANoteThatIsTooLong() {
        String body = "{\"topic\":\"orders\",\"confirm\":\"orders\",\"note\":\"" + "x".repeat(201) + "\"}";

        assertThat(post(body, headers()).status()).isEqualTo(400);
        assertThat(events).singleElement().satisfies(event -> assertThat(event.getData())
                .containsEntry("outcome", "refused"));
    }

    @Test
    void saysThatAChangeMayHaveBeenMade() {
        ConsoleReply reply = post(CHANGE, headers());

        assertThat(reply.status()).isEqualTo(503);
        assertThat(text(reply)).contains("may have been made, in part or whole", "Load the list again");
        assertThat(events.get(0).getData()).containsEntry("outcome", "unknown");
        assertThat(changed).hasValue(1);
    }

    @ParameterizedTest
    @CsvSource({
        "https://ops.example.com, cross-site, https://ops.example.com, 503",
        "https://ops.example.com, , https://ops.example.com, 503",
        "https://ops.example.com.evil.com, cross-site, https://ops.example.com, 403",
        "https://ops.example.com.evil.com, , https://ops.example.com, 403",
        "https://ops.example.com, cross-site, https://other.example.com, 403",
        "https://ops.example.com, , https://other.example.com, 403",
        "https://ops.example.com, cross-site, https://OPS.Example.com, 503",
        "https://ops.example.com, cross-site, https://ops.example.com:443, 503",
        "http://ops.example.com, , http://ops.example.com:80, 503",
        "https://ops.example.com:8443, cross-site, https://ops.example.com:8443, 503",
        "https://ops.example.com:8443, cross-site, https://ops.example.com, 403",
        "http://ops.example.com, cross-site, https://ops.example.com, 403",
        "http://ops.example.com:443, cross-site, https://ops.example.com, 403",
        "chrome-extension://ops.example.com, cross-site, http://ops.example.com, 403",
        "null, cross-site, https://ops.example.com, 403",
        "https://ops.internal, , https://other.example.com, 503",
        "https://ops.internal, same-origin, https://other.example.com, 503"
    })
    void acceptsChangesOfListedOrigins(String origin, String site, String listed, int status) {
        Map<String, String> headers = headers("Origin", origin);
        if (site != null) {
            headers.put("Sec-Fetch-Site", site);
        }

        ConsoleReply reply = post(CHANGE, headers, listed);

        assertThat(reply.status()).as(text(reply)).isEqualTo(status);
    }

    /** As of a payload whose class needs another one that is missing. */
    @Test
    void answersAReadThatEndsWithAnError() {
        ConsoleReply reply = send("GET", "/api/message", "", headers());

        assertThat(reply.status()).isEqualTo(500);
        assertThat(text(reply)).contains("The request failed.").doesNotContain("Currency");
    }

    @Test
    void leavesErrorsOfTheVirtualMachineToTheServer() {
        assertThatThrownBy(() -> send("GET", "/api/groups", "", headers())).isInstanceOf(InternalError.class);
    }

    /** They would keep the console busy, and their lines in the audit would push out those of changes. */
    @ParameterizedTest
    @CsvSource({
        "export, cross-site, , 403",
        "export, same-site, , 403",
        "body, cross-site, , 403",
        "body, same-site, , 403",
        "export, cross-site, https://evil.example.com, 403",
        "export, cross-site, https://ops.example.com, 200",
        "export, same-origin, , 200",
        "export, none, , 200",
        "export, , , 200",
        "body, none, , 200",
        "topics, cross-site, , 403",
        "topics, none, , 200"
    })
    void refusesReadsOfOtherPages(String name, String site, String origin, int status) {
        Map<String, String> headers = new HashMap<>(Map.of("Host", "ops.internal"));
        if (site != null) {
            headers.put("Sec-Fetch-Site", site);
        }
        if (origin != null) {
            headers.put("Origin", origin);
        }

        ConsoleReply reply = send("GET", "/api/" + name, "", headers, "https://ops.example.com");

        assertThat(reply.status()).as(text(reply)).isEqualTo(status);
        assertThat(read).hasValue(status == 200 ? 1 : 0);
    }

    /** A CORS rule of the application would show the replies to that page. A page's own reads have no origin. */
    @ParameterizedTest
    @CsvSource({
        ", , 200",
        ", cross-site, 403",
        "https://evil.example.com, cross-site, 403",
        "https://evil.example.com, , 403",
        "null, , 403",
        "null, same-origin, 200",
        "http://ops.internal, , 200",
        "http://ops.internal, same-origin, 200",
        "http://ops.internal, same-site, 403",
        "https://ops.example.com, cross-site, 200"
    })
    void refusesReadsByScriptsOfOtherPages(String origin, String site, int status) {
        Map<String, String> headers = new HashMap<>(Map.of("Host", "ops.internal"));
        if (site != null) {
            headers.put("Sec-Fetch-Site", site);
        }
        if (origin != null) {
            headers.put("Origin", origin);
        }

        ConsoleReply reply = send("GET", "/api/topics", "", headers, "https://ops.example.com");

        assertThat(reply.status()).as(text(reply)).isEqualTo(status);
        assertThat(read).hasValue(status == 200 ? 1 : 0);
    }

    /** Browsers leave the default port out of an origin. Proxies may add it. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "https://ops.example.com      | ops.example.com                  | 503",
                "http://ops.example.com       | ops.example.com:80               | 503",
                "https://ops.example.com      | ops.example.com:443              | 503",
                "http://ops.example.com:8080  | OPS.example.com:8080             | 503",
                "http://ops.example.com       | ops.example.com, shop.internal   | 403",
                "http://[2001:db8::1]         | [2001:db8::1]:80                 | 503",
                "http://my_host:8080          | MY_HOST:8080                     | 503",
                "http://my_host               | my_host:80                       | 503",
                "https://my_host              | my_host:443                      | 503",
                "http://host.1:80             | host.1                           | 503",
                "http://host.1:8080           | host.1:8080                      | 503",
                "http://my_host:8080          | my_host                          | 403",
                "http://my_host:8080          | other_host:8080                  | 403",
                "http://user@my_host          | my_host                          | 403",
                "http://my_host               | my_host:x                        | 403",
                "https://evil.example.com     | ops.example.com                  | 403",
                "http://ops.example.com       | ops.example.com:8080             | 403",
                "http://ops.example.com:8080  | ops.example.com                  | 403",
                "https://ops.example.com      | ops.example.com:80               | 403",
                "http://evil.example.com      | ops.example.com, evil.example.com | 403",
                "http://user@ops.example.com  | ops.example.com                  | 403",
                "null                         | ops.example.com                  | 403",
                "http://ops.example.com       | ''                               | 403",
                "http://ops.example.com       | :80                              | 403",
                "http://ops.example.com       | ops.example.com:x                | 403"
            })
    void acceptsChangesOfItsOwnHost(String origin, String host, int status) {
        assertThat(post(CHANGE, headers("Origin", origin, "Host", host)).status())
                .isEqualTo(status);
    }

    /** Where a CORS rule permits all headers, a script can send those of a proxy. */
    @Test
    void trustsNoHeaderOfAProxyThatAScriptCanSend() {
        Map<String, String> headers = headers(
                "Origin", "http://evil.example.com", "X-Forwarded-Host", "evil.example.com", "Host", "ops.internal");

        assertThat(post(CHANGE, headers).status()).isEqualTo(403);
        assertThat(send("GET", "/api/topics", "", headers).status()).isEqualTo(403);
    }

    @Test
    void translatesTheWholeReasonOfARefusal() {
        Map<String, String> headers = headers("Origin", "http://evil.example.com", "Sec-Fetch-Site", "cross-site");
        headers.put("Accept-Language", "zh-CN");

        assertThat(text(send("GET", "/api/topics", "", headers)))
                .contains("不是 same-origin")
                .doesNotContain(", not ");
    }
}
