package io.easykit.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.core.env.MapPropertySource;
import org.springframework.mock.env.MockEnvironment;
import org.springframework.util.unit.DataSize;

class SettingsReportTests {

    enum Mode {
        FAST,
        VERY_SLOW
    }

    record Nested(@DefaultValue("1") int size) {
        Nested {
            new SettingChecks("shop.nested.")
                    .that(size > 0, "size", size, "Choose 1 or more.")
                    .complete();
        }
    }

    record Settings(
            @DefaultValue("5s") Duration timeout,
            @DefaultValue("fast") Mode mode,
            @Nullable String password,
            @DefaultValue Nested nested,
            @DefaultValue Map<String, Nested> all,
            @DefaultValue("8080") int port)
            implements CheckedSettings {

        @Override
        public List<Problem> problems() {
            return new SettingChecks("shop.")
                    .duration("timeout", timeout, Duration.ofSeconds(1), Duration.ofHours(1), "1s to 1h")
                    .problems();
        }
    }

    record WithUnits(
            @DefaultValue("5s") Duration timeout,
            @DefaultValue("8MB") DataSize size,
            @DefaultValue List<Duration> steps,
            @DefaultValue Map<String, Duration> leases) {}

    private static BoundSettings<Settings> bind(String... settings) {
        return bind(Settings.class, settings);
    }

    private static <T> BoundSettings<T> bind(Class<T> type, String... settings) {
        MockEnvironment environment = new MockEnvironment();
        for (String setting : settings) {
            String[] parts = setting.split("=", 2);
            environment.setProperty(parts[0], parts[1]);
        }
        return new SettingsReport("shop").bind(type, environment);
    }

    @Test
    void bindsWhatIsRight() {
        BoundSettings<Settings> bound = bind("shop.timeout=2m", "shop.all.one.size=3", "other.port=many");

        assertThat(bound.problems()).isEmpty();
        assertThat(bound.value().timeout()).isEqualTo(Duration.ofMinutes(2));
        assertThat(bound.value().all()).containsOnly(Map.entry("one", new Nested(3)));
    }

    @Test
    void hasDefaultsWithoutAnySetting() {
        assertThat(bind().problems()).isEmpty();
        assertThat(bind().value().port()).isEqualTo(8080);
    }

    @Test
    void reportsEveryMistakeOnceAndKeepsTheRest() {
        BoundSettings<Settings> bound = bind(
                "shop.timeout=1ms",
                "shop.mode=slow",
                "shop.nested.size=0",
                "shop.all.one.size=0",
                "shop.all.two.size=many",
                "shop.all.three=3",
                "shop.prot=1",
                "shop.port=99");

        assertThat(bound.problems())
                .extracting(Problem::description)
                .satisfiesExactlyInAnyOrder(
                        text -> assertThat(text).isEqualTo("The setting shop.timeout is 1ms."),
                        text -> assertThat(text).contains("shop.mode is 'slow'"),
                        text -> assertThat(text).contains("shop.nested.size is 0"),
                        text -> assertThat(text).contains("size is 0"),
                        text -> assertThat(text).contains("shop.all.two.size is 'many'"),
                        text -> assertThat(text).contains("shop.all.three").contains("it is a group of settings"),
                        text -> assertThat(text).contains("shop.prot").contains("does not exist"));
        assertThat(bound.problems()).extracting(Problem::remedy).contains("Write one of fast, very-slow.");
        assertThat(bound.value().port()).isEqualTo(99);
        assertThat(bound.value().mode()).isEqualTo(Mode.FAST);
    }

    /** Spring Boot would read milliseconds or bytes. */
    @ParameterizedTest
    @CsvSource({
        "shop.timeout,    600",
        "shop.timeout,    ${TTL}",
        "shop.timeout,    ${MISSING:600}",
        "shop.timeout,    ${MISSING:${TTL}}",
        "shop.timeout,    60${ZERO}",
        "shop.size,       600",
        "shop.size,       ${TTL}",
        "shop.size,       ${MISSING:600}",
        "shop.steps[0],   ${TTL}",
        "shop.steps[0],   ${MISSING:600}",
        "shop.leases.one, ${TTL}",
        "shop.leases.one, ${MISSING:600}"
    })
    void reportsANumberWithoutAUnitWhereverItComesFrom(String setting, String value) {
        BoundSettings<WithUnits> bound = bind(WithUnits.class, "TTL=600", "ZERO=0", setting + "=" + value);

        assertThat(bound.problems()).singleElement().satisfies(problem -> assertThat(problem.description())
                .startsWith("The setting " + setting + " is '600'")
                .endsWith(", which has no unit."));
    }

    @Test
    void readsPlaceholdersWithAUnit() {
        BoundSettings<WithUnits> bound = bind(
                WithUnits.class,
                "TTL=10m",
                "shop.timeout=${TTL}",
                "shop.size=${MISSING:9}KB",
                "shop.steps[0]=${MISSING:0}",
                "shop.leases.one=${MISSING:${TTL}}");

        assertThat(bound.problems()).isEmpty();
        assertThat(bound.value())
                .isEqualTo(new WithUnits(
                        Duration.ofMinutes(10),
                        DataSize.ofKilobytes(9),
                        List.of(Duration.ZERO),
                        Map.of("one", Duration.ofMinutes(10))));
    }

    @Test
    void checksSystemPropertiesAsStrictlyAsFiles() {
        MockEnvironment environment = new MockEnvironment();
        environment
                .getPropertySources()
                .addLast(new MapPropertySource("systemProperties", Map.of("shop.tmeout", "5s", "shop.port", "99")));

        BoundSettings<Settings> bound = new SettingsReport("shop").bind(Settings.class, environment);

        assertThat(bound.problems()).singleElement().satisfies(problem -> assertThat(problem.description())
                .contains("shop.tmeout")
                .contains("does not exist"));
        assertThat(bound.value().port()).isEqualTo(99);
    }

    @Test
    void showsNoSecret() {
        assertThat(bind("shop.password.value=hidden", "shop.password[0]=hidden").problems())
                .isNotEmpty()
                .noneMatch(problem -> problem.toString().contains("hidden"));
    }
}
