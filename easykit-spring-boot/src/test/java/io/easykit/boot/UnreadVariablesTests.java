package io.easykit.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.SystemEnvironmentPropertySource;

@ExtendWith(OutputCaptureExtension.class)
class UnreadVariablesTests {

    private static final String NOT_READ = "No setting of corner-shop is read from the environment variable ";

    record Shelf(@Nullable Integer maxSize, @Nullable Duration ttl) {}

    record Settings(
            @DefaultValue("5s") Duration openTime,
            @DefaultValue Shelf defaults,
            @DefaultValue Map<String, Shelf> shelves,
            @DefaultValue List<String> externalNames) {}

    private final SettingsReport report = new SettingsReport("corner-shop");

    private Settings bind(Map<String, Object> variables, Map<String, Object> above, Map<String, Object> below) {
        MutablePropertySources sources = new MutablePropertySources();
        sources.addLast(new MapPropertySource("systemProperties", above));
        sources.addLast(new SystemEnvironmentPropertySource("systemEnvironment", new TreeMap<>(variables)));
        sources.addLast(new MapPropertySource("file", below));
        return new Binder(ConfigurationPropertySources.from(sources))
                .bindOrCreate("corner-shop", Bindable.of(Settings.class), report.apply(BindHandler.DEFAULT));
    }

    private Settings bind(Map<String, Object> variables) {
        return bind(variables, Map.of(), Map.of());
    }

    @ParameterizedTest
    @CsvSource({
        "CORNER_SHOP_SHELVES_TOP_TTL,CORNERSHOP_SHELVES_TOP_TTL",
        "CORNER_SHOP_SHELVES_TOP_MAX_SIZE,CORNERSHOP_SHELVES_TOP_MAXSIZE",
        "CORNERSHOP_OPEN_TIME,CORNERSHOP_OPENTIME",
        "CORNER_SHOP_OPENTIME,CORNERSHOP_OPENTIME",
        "CORNERSHOP_DEFAULTS_MAX_SIZE,CORNERSHOP_DEFAULTS_MAXSIZE"
    })
    void namesTheSpellingThatWorks(String wrong, String right, CapturedOutput output) {
        bind(Map.of(wrong, "1"));
        assertThat(output).containsOnlyOnce(NOT_READ + wrong + ". Rename it to " + right + ".");

        bind(Map.of(right, right.endsWith("SIZE") ? "7" : "7s"));
        assertThat(output).containsOnlyOnce(NOT_READ);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "CORNERSHOP_DEFAULTS_TLL",
                "CORNER_SHOP_DEFAULTS_TLL",
                "CORNERSHOP_SHELVES_TOP_LEFT_TTL",
                "CORNER_SHOP_SHELVES_TOP_LEFT_TTL",
                "corner-shop.defaults.tll"
            })
    void namesTheRulesIfNothingIsMeant(String wrong, CapturedOutput output) {
        bind(Map.of(wrong, "1s"));

        assertThat(output)
                .containsOnlyOnce(NOT_READ + wrong + ". Correct its name")
                .contains("corner-shop.a-b.c is CORNERSHOP_AB_C")
                .contains("SPRING_APPLICATION_JSON")
                .doesNotContain("1s");
    }

    @Test
    void warnsOnceHoweverOftenTheSettingsAreBound(CapturedOutput output) {
        bind(Map.of("CORNERSHOP_DEFAULTS_TLL", "1s"));
        bind(Map.of("CORNERSHOP_DEFAULTS_TLL", "1s"));

        assertThat(output).containsOnlyOnce(NOT_READ);
    }

    @Test
    void isSilentAboutWhatIsRead(CapturedOutput output) {
        Settings settings = bind(Map.of(
                "CORNER_SHOP_OPEN_TIME", "1m",
                "CORNERSHOP_DEFAULTS_MAXSIZE", "3",
                "CORNERSHOP_SHELVES_TOP_TTL", "2s",
                "CORNERSHOP_SHELVES_TOP_MAX_SIZE", "4",
                "CORNERSHOP_EXTERNALNAMES_0", "a",
                "CORNERSHOP_EXTERNALNAMES_1", "b",
                "CORNERSHOP_UNSET", "",
                "OTHER", "1"));

        assertThat(settings)
                .isEqualTo(new Settings(
                        Duration.ofMinutes(1),
                        new Shelf(3, null),
                        Map.of("top", new Shelf(4, Duration.ofSeconds(2))),
                        List.of("a", "b")));
        assertThat(output).doesNotContain(NOT_READ);
    }

    /** The map of another source makes its keys known. */
    @Test
    void isSilentAboutTheDashedSpellingWhereItWorks(CapturedOutput output) {
        Settings settings = bind(
                Map.of("CORNER_SHOP_SHELVES_TOP_LEFT_TTL", "2s"),
                Map.of(),
                Map.of("corner-shop.shelves.top-left.ttl", "1s"));

        assertThat(settings.shelves().get("top-left")).isEqualTo(new Shelf(null, Duration.ofSeconds(2)));
        assertThat(output).doesNotContain(NOT_READ);
    }

    @Test
    void isSilentAboutWhatAnotherSourceOverrides(CapturedOutput output) {
        Settings settings = bind(
                Map.of("CORNERSHOP_OPENTIME", "1m", "CORNERSHOP_EXTERNALNAMES_0", "a"),
                Map.of("corner-shop.open-time", "2m", "corner-shop.external-names", "b"),
                Map.of());

        assertThat(settings.openTime()).isEqualTo(Duration.ofMinutes(2));
        assertThat(settings.externalNames()).containsExactly("b");
        assertThat(output).doesNotContain(NOT_READ);
    }

    @Test
    void isSilentAboutTheVariablesOfAService(CapturedOutput output) {
        bind(Map.of(
                "CORNER_SHOP_SERVICE_HOST", "10.0.0.11",
                "CORNER_SHOP_SERVICE_PORT", "6379",
                "CORNER_SHOP_SERVICE_PORT_REDIS", "6379",
                "CORNER_SHOP_PORT", "tcp://10.0.0.11:6379",
                "CORNER_SHOP_PORT_6379_TCP", "tcp://10.0.0.11:6379",
                "CORNER_SHOP_PORT_6379_TCP_PROTO", "tcp",
                "CORNER_SHOP_PORT_6379_TCP_PORT", "6379",
                "CORNER_SHOP_PORT_6379_TCP_ADDR", "10.0.0.11",
                "CORNER_SHOP_REDIS_SERVICE_HOST", "10.0.0.12"));

        assertThat(output).doesNotContain(NOT_READ);
    }
}
