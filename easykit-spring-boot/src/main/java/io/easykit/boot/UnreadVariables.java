package io.easykit.boot;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.origin.PropertySourceOrigin;
import org.springframework.boot.origin.SystemEnvironmentOrigin;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/**
 * Finds environment variables that are named like settings of a product, but from which none was read. Spring Boot ignores them
 * silently: misspelt names, and names below a map in the spelling that it supports elsewhere, such as
 * {@code EASY_CACHE_CACHES_USER_TTL} for {@code EASYCACHE_CACHES_USER_TTL}.
 */
final class UnreadVariables {

    /** Variables that Kubernetes and Docker define for a service or a container, such as one named delay-queue. */
    private static final Pattern SERVICE =
            Pattern.compile(".*_(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT_\\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)");

    private static final Pattern SERVICE_ADDRESS = Pattern.compile("(tcp|udp|sctp)://.*");
    private static final Pattern ELEMENT = Pattern.compile("(.+)_\\d+");

    private final ConfigurationPropertyName root;

    /** The prefix as Spring Boot writes it in variables. */
    private final String prefix;

    /** The prefix with an underscore for each dash, which Spring Boot supports for single settings only. */
    private final String dashedPrefix;

    UnreadVariables(ConfigurationPropertyName root) {
        this.root = root;
        this.prefix = variable(root) + "_";
        this.dashedPrefix = shape(root.toString()) + "_";
    }

    /**
     * Returns a warning for each variable.
     *
     * @param bound the names of all settings that were read, from any source
     */
    List<Problem> find(
            Iterable<ConfigurationPropertySource> sources, Set<ConfigurationPropertyName> bound, Bindable<?> target) {
        List<Problem> found = new ArrayList<>();
        for (ConfigurationPropertySource source : sources) {
            if (source.getUnderlyingSource() instanceof SystemEnvironmentPropertySource environment) {
                Map<String, String> candidates = candidates(environment);
                candidates.keySet().removeAll(read(source, bound));
                candidates.keySet().removeIf(name -> isOverridden(name, bound));
                candidates.keySet().forEach(name -> found.add(problem(name, target)));
            }
        }
        return found;
    }

    private Map<String, String> candidates(SystemEnvironmentPropertySource environment) {
        Map<String, String> candidates = new TreeMap<>();
        environment.getSource().forEach((name, value) -> {
            String text = String.valueOf(value);
            if (hasPrefix(shape(name)) && !text.isBlank() && !isOfAService(shape(name), text)) {
                candidates.put(name, text);
            }
        });
        return candidates;
    }

    private boolean hasPrefix(String shape) {
        return shape.startsWith(prefix) || shape.startsWith(dashedPrefix);
    }

    private static boolean isOfAService(String shape, String value) {
        return SERVICE.matcher(shape).matches()
                || (shape.endsWith("_PORT") && SERVICE_ADDRESS.matcher(value).matches());
    }

    /** Returns the variables that have the value of a setting, even if another source overrides it. */
    private static Set<String> read(ConfigurationPropertySource source, Set<ConfigurationPropertyName> bound) {
        Set<String> read = new HashSet<>();
        for (ConfigurationPropertyName name : bound) {
            ConfigurationProperty property = source.getConfigurationProperty(name);
            if (property != null && property.getOrigin() instanceof PropertySourceOrigin origin) {
                read.add(origin.getPropertyName());
            } else if (property != null && property.getOrigin() instanceof SystemEnvironmentOrigin origin) {
                read.add(origin.getProperty());
            }
        }
        return read;
    }

    /** Whether it is an element of a list that another source sets as a whole. */
    private static boolean isOverridden(String name, Set<ConfigurationPropertyName> bound) {
        Matcher element = ELEMENT.matcher(name);
        return element.matches()
                && bound.stream()
                        .anyMatch(setting -> letters(setting.toString()).equals(letters(element.group(1))));
    }

    private Problem problem(String name, Bindable<?> target) {
        String spelling = spelling(name, target);
        return new Problem(
                "No setting of " + root + " is read from the environment variable " + name + ".",
                spelling != null
                        ? "Rename it to " + spelling + "."
                        : "Correct its name: that of the setting in capitals, without dashes, and with _ for each dot"
                                + " (" + root + ".a-b.c is " + prefix + "AB_C). Names of your own with dashes, dots or"
                                + " capitals need SPRING_APPLICATION_JSON. Ignore this if the application reads the"
                                + " variable itself.");
    }

    /** Returns the name of the setting that is meant; null if there is none. Names are compared by their letters. */
    private @Nullable String spelling(String name, Bindable<?> target) {
        String shape = shape(name);
        String below = shape.substring((shape.startsWith(prefix) ? prefix : dashedPrefix).length());
        Attempts attempts = new Attempts();
        new Binder(ConfigurationPropertySources.from(new SystemEnvironmentPropertySource(
                        StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME, Map.of(prefix + below, "x"))))
                .bind(root, Bindable.of(target.getType()), attempts);
        return attempts.names.stream()
                .filter(setting -> letters(setting.toString()).equals(letters(name)))
                .map(UnreadVariables::variable)
                .filter(variable -> !variable.equals(name))
                .findFirst()
                .orElse(null);
    }

    private static String variable(ConfigurationPropertyName setting) {
        return shape(setting.toString().replace("-", "").replace("]", "").replace('[', '.'));
    }

    private static String shape(String name) {
        return name.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
    }

    private static String letters(String name) {
        return name.toUpperCase(Locale.ROOT).replaceAll("[^A-Z0-9]", "");
    }

    /** Records the settings that are looked for. */
    private static final class Attempts implements BindHandler {

        private final Set<ConfigurationPropertyName> names = new LinkedHashSet<>();

        @Override
        public <T> Bindable<T> onStart(ConfigurationPropertyName name, Bindable<T> target, BindContext context) {
            names.add(name);
            return target;
        }

        @Override
        public @Nullable Object onFailure(
                ConfigurationPropertyName name, Bindable<?> target, BindContext context, Exception error) {
            return null;
        }
    }
}
