package io.easykit.cache.autoconfigure;

import io.easykit.boot.Problem;
import io.easykit.boot.SettingChecks;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.ssl.SslBundleRegistrar;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.data.redis.autoconfigure.DataRedisProperties;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.core.env.Environment;

/** Finds clusters with an undefined SSL bundle. */
final class SslBundleCheck {

    private static final String SETTINGS = "spring.ssl.bundle.";

    private SslBundleCheck() {}

    /** Reports nothing if beans of the application may define bundles. */
    static List<Problem> problems(
            Map<String, DataRedisProperties> clusters, Environment environment, ConfigurableListableBeanFactory beans) {
        List<Problem> problems = new ArrayList<>();
        if (!isOnlyBean(beans, SslBundles.class, "sslBundleRegistry")
                || !isOnlyBean(beans, SslBundleRegistrar.class, "sslPropertiesSslBundleRegistrar")) {
            return problems;
        }
        Set<String> known = new TreeSet<>(names(environment, "jks"));
        known.addAll(names(environment, "pem"));
        clusters.forEach((id, settings) -> {
            String bundle = settings.getSsl().getBundle();
            if (bundle != null && !known.contains(bundle)) {
                problems.add(Problem.setting(
                        SettingChecks.element("easy-cache.clusters", id) + ".ssl.bundle",
                        "'" + bundle + "', which is not an SSL bundle; known are " + known,
                        "Define it as " + SETTINGS + "jks." + bundle + " or " + SETTINGS + "pem." + bundle
                                + ", or correct the name."));
            }
        });
        return problems;
    }

    private static boolean isOnlyBean(ConfigurableListableBeanFactory beans, Class<?> type, String name) {
        return List.of(beans.getBeanNamesForType(type, true, false)).equals(List.of(name));
    }

    private static Set<String> names(Environment environment, String store) {
        try {
            return Binder.get(environment)
                    .bind(SETTINGS + store, Bindable.mapOf(String.class, Object.class))
                    .map(Map::keySet)
                    .orElse(Set.of());
        } catch (BindException unreadable) {
            return Set.of();
        }
    }
}
