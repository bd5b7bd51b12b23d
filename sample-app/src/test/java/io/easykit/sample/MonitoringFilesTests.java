package io.easykit.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.yaml.snakeyaml.Yaml;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Rules and dashboards use meters and labels that the shop has, and the docs describe all meters. */
@SpringBootTest(
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {"management.prometheus.metrics.export.enabled=true", "shop.payment-timeout=100ms"})
class MonitoringFilesTests {

    private static final Path DOCS = Path.of("..", "docs");

    /** Meters of a Redis Cluster. */
    private static final Set<String> NOT_IN_THE_SHOP = Set.of("easycache_master_available");

    /** Labels that Prometheus adds to each scrape. */
    private static final Set<String> OF_PROMETHEUS = Set.of("instance", "job");

    /** Labels with a name that several applications may use. */
    private static final Set<String> NAMES = Set.of("topic", "cluster", "prefix");

    private static final Pattern METER = Pattern.compile("\\b((?:delayqueue|easycache)_[a-z0-9_]+)(?:\\{([^}]*)})?");
    private static final Pattern MATCHER = Pattern.compile("([a-z_]+)\\s*(?:=~|!~|!=|=)");
    private static final Pattern GROUPING = Pattern.compile("\\bby\\s*\\(([^)]*)\\)");
    private static final Pattern PLACEHOLDER = Pattern.compile("\\{\\{\\s*(?:\\$labels\\.)?([a-z_]+)\\s*}}");

    @TempDir
    static Path dataDirectory;

    @LocalServerPort
    int port;

    @DynamicPropertySource
    static void keepData(DynamicPropertyRegistry properties) {
        properties.add("shop.data-dir", dataDirectory::toString);
        properties.add("easy-cache.command-timeout", () -> "60s");
        properties.add("delay-queue.command-timeout", () -> "60s");
        properties.add("delay-queue.outbox.lease", () -> "10m");
    }

    /** Expression and the texts that show its labels. */
    private record Query(String where, String expression, List<String> texts) {}

    private String scrape() throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/actuator/prometheus"))
                .build();
        return HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).body();
    }

    /** Labels by meter, after the shop was used. */
    private Map<String, Set<String>> meters() throws IOException, InterruptedException {
        ShopClient shop = new ShopClient(port);
        shop.get("/products/1");
        shop.put("/products/1", "{\"name\": \"Lamp\", \"price\": 1}");
        shop.get("/products/1");
        shop.post("/orders", "{\"productId\": 1, \"quantity\": 1}");
        await().until(() -> scrape().lines()
                .anyMatch(line -> line.startsWith("delayqueue_handling_seconds_bucket") && !line.endsWith(" 0")));
        Map<String, Set<String>> meters = new HashMap<>();
        for (String line : scrape().lines().toList()) {
            Matcher meter = METER.matcher(line);
            if (!line.startsWith("#") && meter.lookingAt()) {
                Set<String> labels = meters.computeIfAbsent(meter.group(1), any -> new TreeSet<>());
                Matcher label = MATCHER.matcher(String.valueOf(meter.group(2)));
                while (label.find()) {
                    labels.add(label.group(1));
                }
            }
        }
        return meters;
    }

    private static List<Query> rules() throws IOException {
        Map<?, ?> file = new Yaml().load(Files.readString(DOCS.resolve("prometheus/easykit-rules.yml")));
        List<Query> queries = new ArrayList<>();
        for (Object group : list(file.get("groups"))) {
            for (Object rule : list(((Map<?, ?>) group).get("rules"))) {
                Map<?, ?> one = (Map<?, ?>) rule;
                queries.add(new Query(
                        String.valueOf(one.get("alert")),
                        String.valueOf(one.get("expr")),
                        List.of(String.valueOf(one.get("annotations")))));
            }
        }
        return queries;
    }

    private static List<?> list(Object value) {
        return (List<?>) Objects.requireNonNull(value);
    }

    private static JsonNode dashboard(String name) throws IOException {
        return JsonMapper.builder().build().readTree(Files.readString(DOCS.resolve("grafana/" + name + ".json")));
    }

    private static List<Query> queries(JsonNode dashboard) {
        List<Query> queries = new ArrayList<>();
        for (JsonNode panel : dashboard.get("panels")) {
            JsonNode targets = panel.get("targets");
            if (targets != null) {
                for (JsonNode target : targets) {
                    queries.add(new Query(
                            panel.get("title").asString(),
                            target.get("expr").asString(),
                            List.of(target.get("legendFormat").asString())));
                }
            }
        }
        for (JsonNode variable : dashboard.get("templating").get("list")) {
            if (variable.get("type").asString().equals("query")) {
                queries.add(new Query(
                        "$" + variable.get("name").asString(),
                        variable.get("definition").asString(),
                        List.of()));
            }
        }
        return queries;
    }

    private static void assertFits(Query query, Map<String, Set<String>> meters) {
        Matcher meter = METER.matcher(query.expression());
        Set<String> labels = new HashSet<>(OF_PROMETHEUS);
        boolean known = true;
        while (meter.find()) {
            String name = meter.group(1);
            if (NOT_IN_THE_SHOP.contains(name) && !meters.containsKey(name)) {
                known = false;
                continue;
            }
            assertThat(meters).as(query.where()).containsKey(name);
            labels.addAll(Objects.requireNonNull(meters.get(name)));
            Matcher label = MATCHER.matcher(String.valueOf(meter.group(2)));
            while (label.find()) {
                assertThat(meters.get(name)).as(query.where() + " " + name).contains(label.group(1));
            }
        }
        assertThat(labels.size()).as("meters in " + query).isGreaterThan(known ? OF_PROMETHEUS.size() : 0);
        if (!known) {
            return;
        }
        Matcher grouping = GROUPING.matcher(query.expression());
        while (grouping.find()) {
            assertThat(labels).as(query.where()).contains(grouping.group(1).split("\\s*,\\s*"));
        }
        query.texts().forEach(text -> {
            Matcher placeholder = PLACEHOLDER.matcher(text);
            while (placeholder.find()) {
                assertThat(labels).as(query.where()).contains(placeholder.group(1));
            }
        });
    }

    @Test
    void rulesUseMetersOfTheShop() throws Exception {
        Map<String, Set<String>> meters = meters();

        assertThat(rules()).hasSizeGreaterThan(10).allSatisfy(rule -> assertFits(rule, meters));
    }

    @ParameterizedTest
    @ValueSource(strings = {"delay-queue", "easy-cache"})
    void dashboardsUseMetersOfTheShop(String name) throws Exception {
        Map<String, Set<String>> meters = meters();

        assertThat(queries(dashboard(name))).hasSizeGreaterThan(10).allSatisfy(query -> assertFits(query, meters));
    }

    /** A topic, a Redis or a cache of one application may have the name of that of another one. */
    @ParameterizedTest
    @ValueSource(strings = {"delay-queue", "easy-cache"})
    void dashboardsKeepApplicationsApart(String name) throws Exception {
        assertThat(queries(dashboard(name))).allSatisfy(query -> {
            Matcher grouping = GROUPING.matcher(query.expression());
            while (grouping.find()) {
                List<String> labels = List.of(grouping.group(1).split("\\s*,\\s*", -1));
                if (labels.stream().anyMatch(NAMES::contains)) {
                    assertThat(labels).as(query.where()).containsAnyOf("application", "instance");
                }
            }
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"delay-queue", "easy-cache"})
    void dashboardsUseTheirVariables(String name) throws Exception {
        JsonNode dashboard = dashboard(name);
        Set<String> variables = new TreeSet<>();
        dashboard
                .get("templating")
                .get("list")
                .forEach(each -> variables.add(each.get("name").asString()));

        assertThat(variables).contains("datasource", "application");
        for (JsonNode panel : dashboard.get("panels")) {
            JsonNode targets = panel.get("targets");
            if (targets != null) {
                assertThat(panel.get("datasource").get("uid").asString()).isEqualTo("${datasource}");
                assertThat(targets)
                        .allSatisfy(target ->
                                assertThat(target.get("expr").asString()).contains("application=~\"$application\""));
            }
        }
        for (String variable : variables) {
            assertThat(Files.readString(DOCS.resolve("grafana/" + name + ".json")))
                    .containsPattern("\\$\\{?" + variable + "\\b");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"delay-queue", "easy-cache"})
    void docsDescribeEachMeterOfTheShop(String product) throws Exception {
        String docs = Files.readString(DOCS.resolve(product + "/operations.md"));
        // A short form such as ".delivered" in a row follows the name before it.
        String described =
                docs.replaceAll("`(easycache\\.outbox)\\.waiting`, `\\.delivered`", "`$1.waiting`, `$1.delivered`");
        String prefix = product.equals("delay-queue") ? "delayqueue_" : "easycache_";
        Set<String> names = new TreeSet<>();
        Pattern.compile("`((?:delayqueue|easycache)\\.[a-z.]+)`")
                .matcher(described)
                .results()
                .forEach(found -> names.add(found.group(1).replace('.', '_')));

        assertThat(meters().keySet())
                .filteredOn(meter -> meter.startsWith(prefix))
                .isNotEmpty()
                .allSatisfy(meter -> assertThat(names).anySatisfy(name -> assertThat(meter)
                        .matches(name + "(_active)?(_seconds)?(_total|_bucket|_count|_sum|_max|_gcount|_gsum)?")));
    }
}
