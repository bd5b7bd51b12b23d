package io.easykit.console.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.console.ConsoleApi;
import io.easykit.console.ConsoleReply;
import io.easykit.console.autoconfigure.Http.Reply;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;

/** Who may use the console, on one port and on two. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@ExtendWith(OutputCaptureExtension.class)
abstract class ConsoleSecurityContract {

    private static final String CHANGE = "{\"note\":\"test\"}";
    private static final List<String> PRODUCTS = List.of("redis", "easykit.cache", "easykit.delayqueue");

    private final WebApplicationType type;
    private final Class<?> users;
    private final Class<?> permitAll;
    private final Map<String, App> apps = new LinkedHashMap<>();

    ConsoleSecurityContract(WebApplicationType type, Class<?> users, Class<?> permitAll) {
        this.type = type;
        this.users = users;
        this.permitAll = permitAll;
    }

    /** A product with one change. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        final List<String> changes = new CopyOnWriteArrayList<>();
        final List<AuditEvent> audited = new CopyOnWriteArrayList<>();

        @Bean
        ConsoleApi product() {
            return new ConsoleApi() {
                @Override
                public Set<String> features() {
                    return Set.of("queues");
                }

                @Override
                public Map<String, Read> reads() {
                    return Map.of(
                            "look", (request, caller) -> Map.of("values", caller.seesValues()),
                            "file",
                                    (request, caller) ->
                                            ConsoleReply.attachment("file.txt", "text/plain", this::write));
                }

                private void write(OutputStream out) throws IOException {
                    for (int i = 0; i < 10_000; i++) {
                        out.write("line\n".getBytes(StandardCharsets.UTF_8));
                    }
                }

                @Override
                public Map<String, Change> changes() {
                    return Map.of(
                            "change",
                            (input, caller) -> new Planned("topic", List.of("id"), "", () -> {
                                changes.add(caller.name());
                                return Done.of(Map.of("moved", 1));
                            }));
                }
            };
        }

        @EventListener
        void on(AuditApplicationEvent event) {
            audited.add(event.getAuditEvent());
        }
    }

    record App(ConfigurableApplicationContext context, int main, int console) {

        Application application() {
            return context.getBean(Application.class);
        }

        List<String> changes() {
            return application().changes;
        }

        List<Object> outcomes() {
            List<Object> outcomes = new ArrayList<>();
            application().audited.forEach(event -> outcomes.add(event.getData().get("outcome")));
            return outcomes;
        }
    }

    private App app(boolean security, boolean twoPorts, String... settings) {
        return app(security ? users : null, security, twoPorts, settings);
    }

    App app(Class<?> more, boolean security, boolean twoPorts, String... settings) {
        App app = apps.computeIfAbsent(
                security + " " + more + twoPorts + List.of(settings), key -> start(more, security, twoPorts, settings));
        app.application().changes.clear();
        app.application().audited.clear();
        return app;
    }

    private App start(Class<?> more, boolean security, boolean twoPorts, String... settings) {
        List<String> all = new ArrayList<>(List.of(
                "server.port=0",
                "spring.main.banner-mode=off",
                "spring.autoconfigure.exclude=" + String.join(",", excluded(security))));
        if (twoPorts) {
            all.add("management.server.port=0");
        }
        all.addAll(List.of(settings));
        SpringApplicationBuilder builder = new SpringApplicationBuilder(
                more == null ? new Class<?>[] {Application.class} : new Class<?>[] {Application.class, more});
        ConfigurableApplicationContext context =
                builder.web(type).properties(all.toArray(String[]::new)).run();
        int main = context.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
        int console =
                twoPorts ? context.getEnvironment().getRequiredProperty("local.management.port", Integer.class) : main;
        return new App(context, main, console);
    }

    /** The products need a Redis, and the classes of Spring Security are there in any case. */
    private List<String> excluded(boolean security) {
        List<String> excluded = new ArrayList<>(matching(PRODUCTS));
        if (!security) {
            excluded.addAll(ofSpringSecurity());
        }
        if (type == WebApplicationType.REACTIVE) {
            // Two servers on the class path would both define the factory of the management context.
            excluded.addAll(matching(List.of(".boot.tomcat.")));
        }
        return excluded;
    }

    static List<String> ofSpringSecurity() {
        return matching(List.of(".security."));
    }

    static List<String> matching(List<String> parts) {
        return ImportCandidates.load(AutoConfiguration.class, null).getCandidates().stream()
                .filter(name -> parts.stream().anyMatch(name::contains))
                .toList();
    }

    @AfterAll
    void stop() {
        apps.values().forEach(app -> app.context().close());
    }

    static Http change(App app) {
        return Http.to(app.console()).json(CHANGE);
    }

    /** With the token of the session, as the page sends it. */
    private static Http changeWithToken(App app, String user) {
        return changeWithTokenOf(app, user, user);
    }

    /** @param owner whose session has the token */
    private static Http changeWithTokenOf(App app, String user, String owner) {
        Reply session = Http.to(app.console()).as(owner).get("/easykit/api/session");
        Matcher token = Pattern.compile("\"header\":\"([^\"]+)\",\"token\":\"([^\"]+)\"")
                .matcher(session.body());
        assertThat(token.find()).as(session.toString()).isTrue();
        return change(app)
                .as(user)
                .with(token.group(1), token.group(2))
                .with("Cookie", session.header("Set-Cookie").replaceFirst(";.*", ""));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void isNotServedWithoutSpringSecurityUnlessASettingOpensIt(boolean twoPorts) {
        App app = app(false, twoPorts);

        assertThat(Http.to(app.console()).get("/easykit/").status()).isEqualTo(404);
        assertThat(Http.to(app.console()).get("/easykit/api/session").status()).isEqualTo(404);
        assertThat(change(app).post("/easykit/api/change").status()).isEqualTo(404);
        assertThat(app.changes()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void isOpenToThisMachineOnlyIfASettingSaysSo(boolean twoPorts) {
        App app = app(false, twoPorts, "easykit.console.open-to=loopback");

        Reply page = Http.to(app.console()).get("/easykit/");
        assertThat(page.status()).isEqualTo(200);
        assertThat(page.header("Content-Security-Policy")).contains("default-src 'none'", "trusted-types 'none'");
        assertThat(page.header("X-Content-Type-Options")).isEqualTo("nosniff");
        assertThat(change(app).post("/easykit/api/change").status()).isEqualTo(200);
        assertThat(app.changes()).containsExactly("anonymous");
        assertThat(app.outcomes()).containsExactly("done");
    }

    @ParameterizedTest
    @CsvSource({
        "Host,evil.example",
        "Host,localhost.evil.example",
        "X-Forwarded-For,127.0.0.1",
        "X-Real-IP,127.0.0.1",
        "Forwarded,for=127.0.0.1",
        "Via,1.1 proxy",
        "X-Forwarded-Host,localhost"
    })
    void refusesForwardedAndReboundRequestsOnLoopback(String header, String value) {
        App app = app(false, false, "easykit.console.open-to=loopback");

        assertThat(Http.to(app.console()).with(header, value).get("/easykit/").status())
                .isEqualTo(403);
        assertThat(change(app).with(header, value).post("/easykit/api/change").status())
                .isEqualTo(403);
        assertThat(app.changes()).isEmpty();
        assertThat(app.outcomes()).containsExactly("refused");
    }

    @Test
    void recordsTheAddressThatAProxyForwards() {
        App app = app(false, false, "easykit.console.open-to=everyone", "server.forward-headers-strategy=framework");

        assertThat(change(app)
                        .with("X-Forwarded-For", "203.0.113.7")
                        .post("/easykit/api/change")
                        .status())
                .isEqualTo(200);
        assertThat(app.application().audited).singleElement().satisfies(event -> assertThat(event.getData())
                .containsEntry("from", "203.0.113.7"));
        change(app).post("/easykit/api/change");
        assertThat(app.application().audited.get(1).getData()).containsEntry("from", "127.0.0.1");
    }

    @Test
    void isOpenToEveryoneOnlyIfASettingSaysSo() {
        App app = app(false, false, "easykit.console.open-to=everyone");

        Reply session = Http.to(app.console()).with("Host", "shop.example").get("/easykit/api/session");

        assertThat(session.status()).isEqualTo(200);
        assertThat(session.body()).contains("\"openTo\":\"everyone\"");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void asksForALogin(boolean twoPorts) {
        App app = app(true, twoPorts);

        assertThat(Http.to(app.console()).get("/easykit/api/session").status()).isIn(401, 302);
        assertThat(change(app).post("/easykit/api/change").status()).isIn(401, 403);
        assertThat(app.changes()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void refusesUsersWithoutARoleAndNamesIt(boolean twoPorts) {
        App app = app(true, twoPorts);

        Reply page = Http.to(app.console()).as("guest").get("/easykit/");

        assertThat(page.status()).isEqualTo(403);
        assertThat(page.body()).contains("EASYKIT_VIEW");
        assertThat(Http.to(app.console()).as("guest").get("/easykit/console.js").status())
                .isEqualTo(403);
        assertThat(Http.to(app.console()).as("guest").get("/easykit/api/audit").status())
                .isEqualTo(403);
        assertThat(changeWithTokenOf(app, "guest", "viewer")
                        .post("/easykit/api/change")
                        .status())
                .isEqualTo(403);
        assertThat(app.changes()).isEmpty();
        assertThat(app.outcomes()).containsExactly("refused");
        assertThat(app.application().audited.get(0).getPrincipal()).isEqualTo("guest");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void letsViewersLookOnly(boolean twoPorts) {
        App app = app(true, twoPorts);

        assertThat(Http.to(app.console()).as("viewer").get("/easykit/").status())
                .isEqualTo(200);
        assertThat(Http.to(app.console()).as("viewer").get("/easykit/api/look").body())
                .contains("\"values\":false");
        assertThat(Http.to(app.console())
                        .as("viewer")
                        .get("/easykit/api/session")
                        .body())
                .contains("\"actions\":[]");
        Reply change = changeWithToken(app, "viewer").post("/easykit/api/change");
        assertThat(change.status()).isEqualTo(403);
        assertThat(change.body()).contains("EASYKIT_OPERATE");
        assertThat(app.changes()).isEmpty();
        assertThat(app.outcomes()).containsExactly("refused");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void letsOperatorsChangeThings(boolean twoPorts) {
        App app = app(true, twoPorts);

        assertThat(Http.to(app.console())
                        .as("operator")
                        .get("/easykit/api/look")
                        .body())
                .contains("\"values\":true");
        assertThat(changeWithToken(app, "operator").post("/easykit/api/change").status())
                .isEqualTo(200);
        assertThat(app.changes()).containsExactly("operator");
        assertThat(app.application().audited)
                .singleElement()
                .satisfies(event -> assertThat(event.getPrincipal()).isEqualTo("operator"))
                .satisfies(event -> assertThat(event.getType()).isEqualTo("EASYKIT_CHANGE"))
                .satisfies(event -> assertThat(event.getData()).containsEntry("note", "test"));
        assertThat(Http.to(app.console()).as("viewer").get("/easykit/api/audit").body())
                .contains("\"who\":\"operator\"", "\"outcome\":\"done\"");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void refusesAChangeWithoutTheToken(boolean twoPorts) {
        App app = app(true, twoPorts);

        assertThat(change(app).as("operator").post("/easykit/api/change").status())
                .isIn(401, 403);
        assertThat(app.changes()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "X-Easykit-Console,0,403",
        "Content-Type,text/plain,415",
        "Sec-Fetch-Site,cross-site,403",
        "Sec-Fetch-Site,same-site,403",
        "Origin,http://evil.example,403",
        "Origin,null,403"
    })
    void refusesChangesThatAnotherPageMayHaveSent(String header, String value, int status) {
        App app = app(true, false);

        // The error page of a refused content type needs a login as well.
        assertThat(changeWithToken(app, "operator")
                        .with(header, value)
                        .post("/easykit/api/change")
                        .status())
                .isEqualTo(status);
        assertThat(app.changes()).isEmpty();
        assertThat(app.outcomes()).containsExactly("refused");
    }

    @Test
    void acceptsChangesOfItsOwnPage() {
        App app = app(true, false);
        String own = "http://localhost:" + app.console();

        assertThat(changeWithToken(app, "operator")
                        .with("Origin", own)
                        .post("/easykit/api/change")
                        .status())
                .isEqualTo(200);
        assertThat(changeWithToken(app, "operator")
                        .with("Sec-Fetch-Site", "same-origin")
                        .post("/easykit/api/change")
                        .status())
                .isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void changesNothingIfItIsReadOnly(boolean twoPorts) {
        App app = app(true, twoPorts, "easykit.console.access=read-only");

        Reply change = changeWithToken(app, "operator").post("/easykit/api/change");
        assertThat(change.status()).isEqualTo(403);
        assertThat(change.body()).contains("easykit.console.access is read-only");
        assertThat(Http.to(app.console())
                        .as("operator")
                        .get("/easykit/api/session")
                        .body())
                .contains("\"readOnly\":true", "\"actions\":[]");
        assertThat(Http.to(app.console())
                        .as("operator")
                        .get("/easykit/api/look")
                        .body())
                .contains("\"values\":true");
        assertThat(app.changes()).isEmpty();
        assertThat(app.outcomes()).containsExactly("refused");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void staysClosedIfAChainPermitsItsPath(boolean twoPorts) {
        App app = app(permitAll, true, twoPorts);

        assertThat(Http.to(app.console()).get("/easykit/").status()).isEqualTo(403);
        assertThat(change(app).post("/easykit/api/change").status()).isEqualTo(403);
        assertThat(app.changes()).isEmpty();
        assertThat(app.outcomes()).containsExactly("refused");
    }

    @Test
    void isServedOnTheManagementPortOnlyAndKeepsTheProtectionOfOtherPaths() {
        App app = app(true, true);

        assertThat(Http.to(app.main()).as("operator").get("/easykit/").status()).isEqualTo(404);
        assertThat(Http.to(app.main()).get("/other").status()).isIn(401, 302);
        assertThat(Http.to(app.console()).get("/actuator").status()).isIn(401, 302);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void redirectsToTheFolderByARelativeAddress(boolean twoPorts) {
        App app = app(false, twoPorts, "easykit.console.open-to=loopback");

        Reply reply = Http.to(app.console()).get("/easykit");

        assertThat(reply.status()).isEqualTo(308);
        assertThat(reply.header("Location")).isEqualTo("easykit/");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void worksBelowAnyPathAndLogsIt(boolean twoPorts, CapturedOutput log) {
        String context = type == WebApplicationType.SERVLET
                ? "server.servlet.context-path=/shop"
                : "spring.webflux.base-path=/shop";
        App app = app(
                false,
                twoPorts,
                context,
                "management.server.base-path=/manage",
                "easykit.console.path=/ops/console",
                "easykit.console.open-to=loopback");
        String base = twoPorts ? "/manage/ops/console" : "/shop/ops/console";
        assertThat(log).contains("The console is at " + base + "/ on port " + app.console() + ", for requests");

        Reply redirect = Http.to(app.console()).get(base);
        assertThat(redirect.status()).isEqualTo(308);
        assertThat(redirect.header("Location")).isEqualTo("console/");
        Reply page = Http.to(app.console()).get(base + "/");
        assertThat(page.status()).isEqualTo(200);
        Matcher links = Pattern.compile("(?:href|src)=\"([^#\"][^\"]*)\"").matcher(page.body());
        int files = 0;
        while (links.find()) {
            assertThat(links.group(1)).as("relative").doesNotStartWith("/").doesNotContain(":");
            assertThat(Http.to(app.console()).get(base + "/" + links.group(1)).status())
                    .isEqualTo(200);
            files++;
        }
        assertThat(files).isGreaterThan(1);
        assertThat(Http.to(app.console()).get(base + "/api/session").status()).isEqualTo(200);
        assertThat(change(app).post(base + "/api/change").status()).isEqualTo(200);
        assertThat(Http.to(app.console()).get("/ops/console/").status()).isEqualTo(404);
    }

    @Test
    void isNotServedIfItIsSwitchedOff() {
        App app = app(true, false, "easykit.console.enabled=false");

        assertThat(Http.to(app.console()).as("operator").get("/easykit/").status())
                .isEqualTo(404);
        assertThat(app.context().getBeansOfType(ServedConsole.class)).isEmpty();
    }

    @Test
    void sendsAReplyOnceUnlessItHasChanged() {
        App app = app(false, false, "easykit.console.open-to=loopback");
        Reply first = Http.to(app.console()).get("/easykit/api/look");

        Reply second = Http.to(app.console())
                .with("If-None-Match", first.header("ETag"))
                .get("/easykit/api/look");

        assertThat(first.body()).startsWith("{\"now\":").contains("\"node\":");
        assertThat(second.status()).isEqualTo(304);
        assertThat(second.body()).isEmpty();
        assertThat(second.header("X-Easykit-Now")).matches("\\d{13}");
        assertThat(first.header("Cache-Control")).isEqualTo("no-store");
    }

    /** @param jsonOnly configuration that leaves the application one converter, which writes bytes as a text of Base64 */
    void requireRepliesWith(Class<?> jsonOnly) {
        App app = app(jsonOnly, false, false, "easykit.console.open-to=loopback");

        Reply page = Http.to(app.console()).with("Accept", "text/html").get("/easykit/");
        assertThat(page.status()).isEqualTo(200);
        assertThat(page.header("Content-Type")).startsWith("text/html");
        assertThat(page.header("Content-Length"))
                .isEqualTo(String.valueOf(page.body().length()));
        assertThat(page.body()).startsWith("<!");
        assertThat(Http.to(app.console()).get("/easykit/api/session").body()).startsWith("{\"now\":");
        assertThat(change(app).post("/easykit/api/change").body()).startsWith("{\"now\":");
        assertThat(Http.to(app.console()).get("/easykit/api/file").body()).startsWith("line\n");
    }

    @Test
    void streamsAFile() {
        App app = app(false, false, "easykit.console.open-to=loopback");

        Reply file = Http.to(app.console()).get("/easykit/api/file");

        assertThat(file.status()).isEqualTo(200);
        assertThat(file.header("Content-Disposition")).isEqualTo("attachment; filename=\"file.txt\"");
        assertThat(file.header("Content-Security-Policy")).contains("default-src 'none'");
        assertThat(file.body()).isEqualTo("line\n".repeat(10_000));
    }

    @Test
    void countsRequestsByTheirOutcome() {
        App app = app(true, false, "easykit.console.label=METERS");
        Http.to(app.console()).as("viewer").get("/easykit/api/look");
        Http.to(app.console()).as("viewer").get("/easykit/api/nothing");
        changeWithToken(app, "viewer").post("/easykit/api/change");

        MeterRegistry meters = app.context().getBean(MeterRegistry.class);
        assertThat(requests(meters, "look", "done")).isEqualTo(1);
        assertThat(requests(meters, "other", "refused")).isEqualTo(1);
        assertThat(requests(meters, "change", "refused")).isEqualTo(1);
    }

    private static double requests(MeterRegistry meters, String action, String outcome) {
        return meters.get("easykit.console.requests")
                .tags("action", action, "outcome", outcome)
                .counter()
                .count();
    }

    @Test
    void doesNotSendAFileTwice() {
        App app = app(false, false, "easykit.console.open-to=loopback");
        Reply first = Http.to(app.console()).get("/easykit/console.js");

        Reply second = Http.to(app.console())
                .with("If-None-Match", first.header("ETag"))
                .get("/easykit/console.js");

        assertThat(first.status()).isEqualTo(200);
        assertThat(first.header("Content-Type")).startsWith("text/javascript");
        assertThat(second.status()).isEqualTo(304);
        assertThat(second.body()).isEmpty();
    }

    @Test
    void compressesAFileForBrowsersThatTakeIt() {
        App app = app(false, false, "easykit.console.open-to=loopback");
        Reply plain = Http.to(app.console()).get("/easykit/console.js");

        Reply compressed =
                Http.to(app.console()).with("Accept-Encoding", "gzip, br").get("/easykit/console.js");
        Reply known = Http.to(app.console())
                .with("Accept-Encoding", "gzip, br")
                .with("If-None-Match", compressed.header("ETag"))
                .get("/easykit/console.js");

        assertThat(compressed.header("Content-Encoding")).isEqualTo("gzip");
        assertThat(compressed.header("ETag")).isNotEqualTo(plain.header("ETag"));
        assertThat(compressed.header("Vary")).contains("Accept-Encoding");
        assertThat(plain.header("Vary")).contains("Accept-Encoding");
        assertThat(plain.header("Content-Encoding")).isNull();
        assertThat(known.status()).isEqualTo(304);
    }

    @Test
    void answersInChineseIfItIsAskedTo() {
        App app = app(true, false, "easykit.console.access=read-only");

        Reply refused = changeWithToken(app, "operator")
                .with("Accept-Language", "zh-CN")
                .post("/easykit/api/change");

        assertThat(refused.status()).isEqualTo(403);
        assertThat(refused.body()).contains("此处只读", "请使用其他节点").doesNotContain("Nobody");
        assertThat(app.application().audited.get(0).getData().get("why").toString())
                .startsWith("Nobody may change things here");
    }

    @Test
    void answersUnknownPathsAndWrongBodiesInWords() {
        App app = app(false, false, "easykit.console.open-to=loopback");

        assertThat(Http.to(app.console()).get("/easykit/../secret").status()).isIn(400, 404);
        assertThat(Http.to(app.console()).get("/easykit/api/nothing").status()).isEqualTo(404);
        Reply wrong = Http.to(app.console()).json("[1]").post("/easykit/api/change");
        assertThat(wrong.status()).isEqualTo(400);
        assertThat(wrong.header("Content-Type")).isEqualTo("application/problem+json");
        assertThat(wrong.body()).contains("\"action\"");
        assertThat(Http.to(app.console())
                        .json("{\"note\":\"" + "x".repeat(1 << 20) + "\"}")
                        .post("/easykit/api/change")
                        .status())
                .isEqualTo(413);
        assertThat(app.changes()).isEmpty();
    }
}
