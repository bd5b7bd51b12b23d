package io.easykit.console.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.boot.BoundSettings;
import io.easykit.test.SettingsContract;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.core.env.Environment;
import org.springframework.mock.env.MockEnvironment;

class SettingsTests extends SettingsContract {

    SettingsTests() {
        super("easykit.console");
    }

    @Override
    protected Object bind(Environment environment) {
        BoundSettings<ConsoleProperties> settings = ConsoleStartCheck.bind(environment);
        assertThat(settings.problems()).isEmpty();
        return settings.value();
    }

    @Override
    protected void assertEngineDefaults(Object settings) {
        assertThat(((ConsoleProperties) settings).label()).isNull();
    }

    @Override
    protected boolean hasDurations() {
        return false;
    }

    @Override
    protected Map<String, String> examples() {
        return Map.of(
                "easykit.console.label", "PROD",
                "easykit.console.color", "red",
                "easykit.console.links", "[{label: Staging, href: \"https://staging.example.com/easykit/\"}]",
                "easykit.console.origins", "[\"https://ops.example.com\"]");
    }

    @ParameterizedTest
    @CsvSource({
        "easykit.console.path,easykit",
        "easykit.console.path,/easykit/",
        "easykit.console.path,/",
        "easykit.console.open-to,all",
        "easykit.console.access,none",
        "easykit.console.color,pink",
        "easykit.console.audit-size,-1",
        "easykit.console.origins,ops.example.com",
        "easykit.console.links[0].href,javascript:alert(1)",
        "easykit.console.unknown,1"
    })
    void refusesWrongValuesWithARemedy(String name, String value) {
        MockEnvironment environment = new MockEnvironment().withProperty(name, value);

        assertThat(new ConsoleStartCheck(environment).settings(null))
                .singleElement()
                .satisfies(problem -> {
                    assertThat(problem.description()).contains(name.replaceFirst("\\[.*", ""));
                    assertThat(problem.remedy()).isNotBlank();
                });
    }

    @Test
    void refusesLoopbackBehindAProxyThatIsTrusted() {
        MockEnvironment environment = new MockEnvironment()
                .withProperty("easykit.console.open-to", "loopback")
                .withProperty("server.forward-headers-strategy", "native");

        assertThat(new ConsoleStartCheck(environment).settings(null))
                .singleElement()
                .satisfies(problem -> assertThat(problem.remedy()).contains("server.forward-headers-strategy=none"));
    }
}
