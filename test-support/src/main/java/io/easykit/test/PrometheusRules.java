package io.easykit.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.yaml.snakeyaml.Yaml;

/** The alerting rules of one product in the documentation, compared with its meters. */
public final class PrometheusRules {

    private static final Path FOLDER = Path.of("..", "docs", "prometheus");

    /** Labels that Prometheus itself adds, and the tag of {@code management.metrics.tags.application}. */
    private static final Set<String> OF_ALL = Set.of("application", "instance", "le");

    /** Merges applications, so that one hides another. */
    private static final Pattern MERGE = Pattern.compile(
            "\\b(?:max|min|sum|avg|count|group|topk|bottomk|quantile|stddev|stdvar|count_values|limitk)\\b"
                    + "(?! by \\(application\\b)");

    private static final Pattern LABEL = Pattern.compile("(\\w+)=\"([^\"]*)\"");
    private static final Pattern GROUPED_LABELS = Pattern.compile("by \\(([^)]*)\\)");
    private static final Pattern SHOWN_LABEL = Pattern.compile("\\$labels\\.(\\w+)");

    /** Heading of the table of all rules in the operations page of a product. */
    private static final String HEADING = "\n## Alerting rules\n";

    private static final String RUNBOOK =
            "https://github.com/easykit/easykit/blob/main/docs/%s/operations.md#alerting-rules";

    private static final Pattern ROW = Pattern.compile("(?m)^\\| `(\\w+)` (?:\\| [^|]+ ){3}\\|$");

    private final String group;
    private final String series;
    private final List<Map<String, Object>> rules;
    private final String tests;

    /**
     * Reads them.
     *
     * @param group  name of the group of rules, and of the folder of the product in the documentation
     * @param series beginning of the names of its series
     */
    public PrometheusRules(String group, String series) throws IOException {
        this.group = group;
        this.series = series;
        this.rules = rules(group);
        this.tests = Files.readString(FOLDER.resolve("easykit-rules-tests.yml"));
    }

    private static List<Map<String, Object>> rules(String group) throws IOException {
        Map<String, Object> file = new Yaml().load(Files.readString(FOLDER.resolve("easykit-rules.yml")));
        return list(file, "groups").stream()
                .filter(one -> group.equals(one.get("name")))
                .flatMap(one -> list(one, "rules").stream())
                .toList();
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> list(Map<String, Object> map, String name) {
        return (List<Map<String, Object>>) Objects.requireNonNull(map.get(name), name);
    }

    /** Number of rules. */
    public int count() {
        return rules.size();
    }

    /** Checks that the series, labels and values of labels exist that the rules use, and that no rule merges applications. */
    public void requireMeters(MeterRegistry registry) {
        Map<String, Map<String, Set<String>>> known = series(registry);
        for (Map<String, Object> rule : rules) {
            String expression = (String) rule.get("expr");
            assertThat(expression).doesNotContainPattern(MERGE);
            Set<String> labels = new HashSet<>(OF_ALL);
            Matcher metric =
                    Pattern.compile("(" + series + "_\\w+)(\\{[^}]*})?").matcher(expression);
            while (metric.find()) {
                assertThat(known).as(expression).containsKey(metric.group(1));
                Map<String, Set<String>> values = known.getOrDefault(metric.group(1), Map.of());
                labels.addAll(values.keySet());
                Matcher label = LABEL.matcher(metric.group(2) == null ? "" : metric.group(2));
                while (label.find()) {
                    assertThat(values).as(expression).containsKey(label.group(1));
                    assertThat(values.get(label.group(1))).as(expression).contains(label.group(2));
                }
            }
            Matcher by = GROUPED_LABELS.matcher(expression);
            while (by.find()) {
                assertThat(labels).as(expression).contains(by.group(1).split(", ", -1));
            }
            Matcher shown = SHOWN_LABEL.matcher(String.valueOf(rule.get("annotations")));
            while (shown.find()) {
                assertThat(labels).as(expression).contains(shown.group(1));
            }
        }
    }

    /** Checks that each rule has a test, and that the series of the tests exist. */
    public void requireTests(MeterRegistry registry) {
        assertThat(rules).allSatisfy(rule -> assertThat(tests).contains("alertname: " + rule.get("alert")));
        Matcher metric = Pattern.compile("(" + series + "_\\w+)\\{").matcher(tests);
        while (metric.find()) {
            assertThat(series(registry)).containsKey(metric.group(1));
        }
    }

    /** Checks that each rule has a row in the table of its product, and each row a rule, and that each alert leads there. */
    public void requireRows() throws IOException {
        String page = Files.readString(FOLDER.resolveSibling(group).resolve("operations.md"));
        assertThat(page).containsOnlyOnce(HEADING);
        String section =
                page.substring(page.indexOf(HEADING) + HEADING.length()).split("\n## ", 2)[0];
        assertThat(ROW.matcher(section).results().map(row -> row.group(1)))
                .containsExactlyElementsOf(
                        rules.stream().map(rule -> (String) rule.get("alert")).toList());
        assertThat(rules).allSatisfy(rule -> assertThat(String.valueOf(rule.get("annotations")))
                .endsWith("runbook_url=" + RUNBOOK.formatted(group) + "}"));
    }

    /** Names and labels as Prometheus gets them, with the values that are registered. */
    private static Map<String, Map<String, Set<String>>> series(MeterRegistry registry) {
        Map<String, Map<String, Set<String>>> series = new HashMap<>();
        for (Meter meter : registry.getMeters()) {
            for (String name : names(meter, registry)) {
                Map<String, Set<String>> labels = series.computeIfAbsent(name, any -> new HashMap<>());
                meter.getId().getTags().forEach(tag -> labels.computeIfAbsent(tag.getKey(), any -> new HashSet<>())
                        .add(tag.getValue()));
            }
        }
        return series;
    }

    private static List<String> names(Meter meter, MeterRegistry registry) {
        String name = meter.getId().getName().replace('.', '_');
        return switch (meter.getId().getType()) {
            case COUNTER -> List.of(name + "_total");
            case TIMER ->
                Stream.of("count", "sum", "max", "bucket")
                        .filter(part -> !part.equals("bucket") || hasBuckets(meter, registry))
                        .map(part -> name + "_seconds_" + part)
                        .toList();
            default -> List.of("seconds".equals(meter.getId().getBaseUnit()) ? name + "_seconds" : name);
        };
    }

    /** The registry of a test has a gauge for each bucket of a timer. */
    private static boolean hasBuckets(Meter meter, MeterRegistry registry) {
        return registry.getMeters().stream()
                .anyMatch(one -> one.getId().getName().equals(meter.getId().getName() + ".histogram"));
    }
}
