package io.easykit.test;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.core.env.Environment;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.io.ByteArrayResource;

/**
 * The generated metadata of a product's settings, and {@code docs/application-<product>.yml}, which has every setting with its
 * default. The file is generated from the metadata by {@code -Deasykit.write-docs=true}.
 */
public abstract class SettingsContract {

    private static final Path METADATA = Path.of("target", "classes", "META-INF", "spring-configuration-metadata.json");
    private static final Pattern SENTENCES = Pattern.compile("[A-Z].*\\.", Pattern.DOTALL);
    private static final Pattern TIME = Pattern.compile("\\b\\d+(ms|s|m|h|d)\\b");
    private static final Pattern SIZE = Pattern.compile("\\b\\d+(B|KB|MB|GB)\\b");
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9][A-Za-z0-9.-]*");
    private static final int WIDTH = 120;

    private final String product;
    private final Path documentation;

    /** @param product prefix of its settings, for example {@code easy-cache} */
    protected SettingsContract(String product) {
        this.product = product;
        this.documentation = Path.of("..", "docs", "application-" + product + ".yml");
    }

    /** Binds the settings, and fails if one is invalid. */
    protected abstract Object bind(Environment environment);

    /** Checks settings that are null by default, for which the engine has a default. */
    protected abstract void assertEngineDefaults(Object settings);

    /** Values in YAML for the settings without a default, by name. */
    protected abstract Map<String, String> examples();

    /** Whether any setting is a duration. */
    protected boolean hasDurations() {
        return true;
    }

    private record Setting(String name, String type, String description, @Nullable Object value) {}

    @Test
    void describesEverySettingInSentences() {
        assertThat(settings()).isNotEmpty().allSatisfy(setting -> assertThat(setting.description())
                .as(setting.name())
                .matches(SENTENCES)
                .doesNotContain("{@"));
    }

    @Test
    void givesTheUnitOfDurationsAndSizes() {
        assertThat(settings())
                .filteredOn(setting -> setting.type().equals("java.time.Duration"))
                .matches(durations -> durations.isEmpty() != hasDurations(), "has durations: " + hasDurations())
                .allSatisfy(setting ->
                        assertThat(setting.description()).as(setting.name()).containsPattern(TIME));
        assertThat(settings())
                .filteredOn(setting -> setting.type().endsWith(".DataSize"))
                .allSatisfy(setting ->
                        assertThat(setting.description()).as(setting.name()).containsPattern(SIZE));
    }

    @Test
    void givesTheDefaultOfEverySetting() {
        assertThat(settings()).allSatisfy(setting -> {
            if (setting.value() == null) {
                assertThat(setting.description()).as(setting.name()).contains("By default ");
            }
        });
    }

    @Test
    void knowsTheTypeOfEverySetting() {
        assertThat(settings())
                .as("a setting in additional-spring-configuration-metadata.json that does not exist")
                .allSatisfy(
                        setting -> assertThat(setting.type()).as(setting.name()).isNotEmpty());
    }

    @Test
    void documentsEverySettingAndNothingElse() throws IOException {
        String expected = yaml();
        if (Boolean.getBoolean("easykit.write-docs")) {
            Files.writeString(documentation, expected);
        }
        assertThat(Files.readString(documentation))
                .as("run this test with -Deasykit.write-docs=true")
                .isEqualTo(expected);
    }

    @Test
    void documentsTheDefaults() throws IOException {
        Object documented = bind(environment(Files.readString(documentation)));

        assertThat(documented)
                .usingRecursiveComparison()
                .ignoringFields("defaults")
                .isEqualTo(bind(environment("")));
        assertEngineDefaults(documented);
    }

    @Test
    void documentsValidExamples() throws IOException {
        String all = Files.readString(documentation).replaceAll("(?m)^( *)# ([a-z-]+:)", "$1$2");

        assertThat(bind(environment(all))).isNotEqualTo(bind(environment("")));
    }

    private String yaml() {
        StringBuilder text = new StringBuilder("# Every setting of " + product
                + " with its default. Settings without a default are commented out, with an example.\n"
                + "# SettingsTests compares this file with the configuration metadata and with the code.\n");
        List<String> open = new ArrayList<>();
        for (Setting setting : ordered(settings())) {
            List<String> path = List.of(setting.name().split("\\.", -1));
            List<String> groups = path.subList(0, path.size() - 1);
            int common = 0;
            while (common < Math.min(open.size(), groups.size())
                    && open.get(common).equals(groups.get(common))) {
                common++;
            }
            for (int level = common; level < groups.size(); level++) {
                text.append("  ".repeat(level))
                        .append(hasDefaults(groups.subList(0, level + 1)) ? "" : "# ")
                        .append(groups.get(level))
                        .append(":\n");
            }
            open = groups;
            append(text, "  ".repeat(groups.size()), path.get(groups.size()), setting);
        }
        return text.toString();
    }

    private boolean hasDefaults(List<String> group) {
        String prefix = String.join(".", group) + ".";
        return settings().stream().anyMatch(setting -> setting.name().startsWith(prefix) && setting.value() != null);
    }

    private void append(StringBuilder text, String indent, String name, Setting setting) {
        String line = indent + "#";
        for (String word : setting.description().split("\\s+", -1)) {
            if (line.length() + 1 + word.length() > WIDTH) {
                text.append(line).append('\n');
                line = indent + "#";
            }
            line += " " + word;
        }
        text.append(line).append('\n').append(indent);
        if (setting.value() != null) {
            text.append(name).append(": ").append(literal(setting.value())).append('\n');
        } else {
            String example = examples().get(setting.name());
            assertThat(example).as("example of " + setting.name()).isNotNull();
            text.append("# ").append(name).append(": ").append(example).append('\n');
        }
    }

    private static String literal(Object value) {
        String text = String.valueOf(value);
        return PLAIN.matcher(text).matches() ? text : '"' + text + '"';
    }

    /** Settings of a group follow each other, and single settings come before groups. */
    private static List<Setting> ordered(List<Setting> settings) {
        List<Setting> ordered = new ArrayList<>(settings);
        ordered.sort(Comparator.comparing(SettingsContract::sortKey));
        return ordered;
    }

    private static String sortKey(Setting setting) {
        List<String> path = new ArrayList<>(List.of(setting.name().split("\\.", -1)));
        int last = path.size() - 1;
        for (int i = 0; i < last; i++) {
            path.set(i, "2" + path.get(i));
        }
        path.set(last, "1" + path.get(last));
        return String.join(" ", path);
    }

    private List<Setting> settings() {
        Map<String, Object> metadata = JsonParserFactory.getJsonParser().parseMap(read(METADATA));
        List<Setting> settings = new ArrayList<>();
        for (Object element : (List<?>) metadata.getOrDefault("properties", List.of())) {
            Map<?, ?> property = (Map<?, ?>) element;
            String name = String.valueOf(property.get("name"));
            if (name.startsWith(product + ".")) {
                settings.add(new Setting(
                        name,
                        text(property.get("type")),
                        text(property.get("description")),
                        property.get("defaultValue")));
            }
        }
        return settings;
    }

    private static String text(@Nullable Object value) {
        return value == null ? "" : value.toString();
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Environment environment(String yaml) throws IOException {
        StandardEnvironment environment = new StandardEnvironment() {
            @Override
            protected void customizePropertySources(MutablePropertySources none) {}
        };
        List<PropertySource<?>> sources = yaml.isEmpty()
                ? Collections.emptyList()
                : new YamlPropertySourceLoader().load("documentation", new ByteArrayResource(yaml.getBytes(UTF_8)));
        sources.forEach(environment.getPropertySources()::addLast);
        return environment;
    }
}
