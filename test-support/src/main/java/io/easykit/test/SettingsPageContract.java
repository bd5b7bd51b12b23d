package io.easykit.test;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.json.JsonParserFactory;

/**
 * A page of the documentation with all settings of a product, in tables with the columns <em>setting</em>, <em>values</em>,
 * <em>default</em> and <em>meaning</em>. Settings and defaults are those of the generated configuration metadata. A setting
 * without a default there has one in words on the page.
 */
public abstract class SettingsPageContract {

    private static final Path DOCUMENTATION = Path.of("..", "docs");
    private static final Path METADATA = Path.of("target", "classes", "META-INF", "spring-configuration-metadata.json");

    private static final String ROW = "| `";
    private static final int NAME = 1;
    private static final int DEFAULT = 3;

    private final Path page;

    /**
     * @param page path of the page below the folder {@code docs}
     */
    protected SettingsPageContract(String page) {
        this.page = DOCUMENTATION.resolve(page);
    }

    /** Defaults that the engine fills in, which the metadata do not have, by the names of their settings. */
    protected abstract Map<String, Object> engineDefaults();

    @Test
    void pageHasEverySettingWithItsDefaultAndNothingElse() {
        Map<String, String> expected = metadata();
        Map<String, String> found = rows();
        // A default in words is for readers only.
        found.replaceAll((name, value) -> value.startsWith("`") ? value : "");

        assertThat(expected).as("settings in %s", METADATA).isNotEmpty();
        assertThat(found.entrySet())
                .as("settings in %s", page)
                .containsExactlyInAnyOrderElementsOf(expected.entrySet());
    }

    private Map<String, String> metadata() {
        Map<String, String> defaults = new TreeMap<>();
        Map<String, Object> metadata = JsonParserFactory.getJsonParser().parseMap(read(METADATA));
        for (Object property : (List<?>) metadata.getOrDefault("properties", List.of())) {
            Map<?, ?> one = (Map<?, ?>) property;
            defaults.put(String.valueOf(one.get("name")), text(one.get("defaultValue")));
        }
        engineDefaults().forEach((name, value) -> assertThat(defaults.put(name, text(value)))
                .as("default of %s in the metadata", name)
                .isEqualTo(""));
        return defaults;
    }

    private static String text(@Nullable Object value) {
        return value == null ? "" : "`" + value + "`";
    }

    private Map<String, String> rows() {
        Map<String, String> rows = new TreeMap<>();
        read(page).lines().filter(line -> line.startsWith(ROW)).forEach(line -> {
            String[] cells = line.split(" *\\| *", -1);
            String name = cells[NAME].replace("`", "");
            assertThat(cells[DEFAULT]).as("default of %s", name).isNotEmpty();
            assertThat(rows.put(name, cells[DEFAULT]))
                    .as("another row of %s", name)
                    .isNull();
        });
        return rows;
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
