package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.boot.BoundSettings;
import io.easykit.boot.SettingsReport;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.SerialOptions;
import io.easykit.cache.StaleOnErrorOptions;
import io.easykit.cache.aop.CacheSettings;
import io.easykit.test.SettingsContract;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.Map;
import org.springframework.core.env.Environment;

class SettingsTests extends SettingsContract {

    SettingsTests() {
        super("easy-cache");
    }

    @Override
    protected Object bind(Environment environment) {
        BoundSettings<EasyCacheProperties> settings =
                new SettingsReport("easy-cache").bind(EasyCacheProperties.class, environment);
        assertThat(settings.problems()).isEmpty();
        return settings.value();
    }

    @Override
    protected void assertEngineDefaults(Object settings) {
        CacheSettings documented = ((EasyCacheProperties) settings).defaults();
        for (RecordComponent setting : CacheSettings.class.getRecordComponents()) {
            assertThat(documented)
                    .extracting(setting.getName())
                    .as(setting.getName())
                    .isNotNull()
                    .isEqualTo(defaultOf(setting));
        }
    }

    private static Object defaultOf(RecordComponent setting) {
        SerialOptions serial = SerialOptions.defaults();
        return switch (setting.getName()) {
            case "staleOnError" -> CacheOptions.defaults().keptPastEnd();
            case "loadSoftTimeout" ->
                StaleOnErrorOptions.keptFor(Duration.ofHours(1)).loadSoftTimeout();
            case "loadRetryAfter" ->
                StaleOnErrorOptions.keptFor(Duration.ofHours(1)).loadRetryAfter();
            case "serial" -> CacheOptions.defaults().serial() != null;
            case "serialWait" -> serial.maxWait();
            case "serialQueue" -> serial.maxQueue();
            default -> optionOf(setting);
        };
    }

    private static Object optionOf(RecordComponent setting) {
        try {
            return CacheOptions.class.getMethod(setting.getName()).invoke(CacheOptions.defaults());
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("There is no option " + setting.getName(), e);
        }
    }

    @Override
    protected Map<String, String> examples() {
        return Map.of(
                "easy-cache.caches", "{user: {ttl: 1h}}",
                "easy-cache.clusters", "{trade: {host: redis-trade, port: 6379}}",
                "easy-cache.external-prefixes", "[user, price]",
                "easy-cache.jdbc.platform", "postgresql",
                "easy-cache.transactions.extra-connections", "5");
    }
}
