package io.easykit.boot;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.bind.AbstractBindHandler;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.bind.handler.IgnoreTopLevelConverterNotFoundBindHandler;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.core.env.Environment;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;

/**
 * Binds all settings of a prefix, and then reports every one that is wrong. Spring Boot itself stops at the first one,
 * and reports only that it cannot be converted.
 *
 * <p>As an advisor, it does the same for the bean that Spring Boot binds, and logs a warning for each environment variable
 * that is named like a setting, but is none. An environment has variables of others too, so they fail no start.
 */
public final class SettingsReport implements ConfigurationPropertiesBindHandlerAdvisor {

    private final ConfigurationPropertyName root;
    private final ConfigurationPropertyName bootsOwn;
    private final Logger log;
    private final Set<Problem> warned = ConcurrentHashMap.newKeySet();

    /**
     * Creates a report of the settings of a product.
     *
     * @param prefix of the settings, for example {@code easy-cache}
     */
    public SettingsReport(String prefix) {
        this.root = ConfigurationPropertyName.of(prefix);
        this.bootsOwn = root.append("clusters");
        this.log = LoggerFactory.getLogger(prefix);
    }

    /** Binds settings from the environment alone, without a bean. */
    public <T> BoundSettings<T> bind(Class<T> type, Environment environment) {
        BindHandler boot = new NoUnboundElementsBindHandler(
                new IgnoreTopLevelConverterNotFoundBindHandler(), source -> !isSystemEnvironment(source));
        Collector collector = new Collector(boot, false);
        try {
            T value = Binder.get(environment).bindOrCreate(root, Bindable.of(type), collector);
            return new BoundSettings<>(value, List.of());
        } catch (BindException reported) {
            if (collector.problems.isEmpty()) {
                throw reported;
            }
            T value = type.isInstance(collector.value) ? type.cast(collector.value) : defaults(type);
            return new BoundSettings<>(value, List.copyOf(collector.problems));
        }
    }

    private <T> T defaults(Class<T> type) {
        return new Binder(List.of()).bindOrCreate(root, Bindable.of(type), BindHandler.DEFAULT);
    }

    @Override
    public BindHandler apply(BindHandler handler) {
        return new Collector(handler, true);
    }

    /** Stricter than Spring Boot, which allows unknown names in system properties too. */
    private static boolean isSystemEnvironment(ConfigurationPropertySource source) {
        return source.getUnderlyingSource() instanceof PropertySource<?> underlying
                && StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME.equals(underlying.getName());
    }

    private final class Collector extends AbstractBindHandler {

        private final List<Problem> problems = new ArrayList<>();
        private final Set<ConfigurationPropertyName> unreadable = new HashSet<>();
        private final Set<ConfigurationPropertyName> bound = new HashSet<>();
        private final boolean warns;
        private @Nullable Object value;

        Collector(BindHandler parent, boolean warns) {
            super(parent);
            this.warns = warns;
        }

        @Override
        public @Nullable Object onSuccess(
                ConfigurationPropertyName name, Bindable<?> target, BindContext context, Object result) {
            bound.add(name);
            Problem withoutUnit = root.isAncestorOf(name) && !bootsOwn.isAncestorOf(name)
                    ? BindProblems.withoutUnit(context, result)
                    : null;
            if (withoutUnit != null) {
                problems.add(withoutUnit);
                unreadable.add(name);
                return null;
            }
            check(name, result);
            return super.onSuccess(name, target, context, result);
        }

        @Override
        public Object onCreate(ConfigurationPropertyName name, Bindable<?> target, BindContext context, Object result) {
            check(name, result);
            return super.onCreate(name, target, context, result);
        }

        private void check(ConfigurationPropertyName name, Object result) {
            if (root.equals(name)) {
                value = result;
                if (result instanceof CheckedSettings settings) {
                    problems.addAll(settings.problems());
                }
            }
        }

        /** Treats an unreadable setting as not set, so that the others are still bound. */
        @Override
        public @Nullable Object onFailure(
                ConfigurationPropertyName name, Bindable<?> target, BindContext context, Exception error)
                throws Exception {
            if (root.equals(name)) {
                add(name, target, context, error);
                addUnknown(name, target, context);
                throw new InvalidConfigurationException(problems);
            }
            if (root.isAncestorOf(name)) {
                add(name, target, context, error);
                return null;
            }
            return super.onFailure(name, target, context, error);
        }

        @Override
        public void onFinish(
                ConfigurationPropertyName name, Bindable<?> target, BindContext context, @Nullable Object result)
                throws Exception {
            super.onFinish(name, target, context, result);
            if (root.equals(name) && !problems.isEmpty()) {
                throw new InvalidConfigurationException(List.of());
            }
            if (root.equals(name) && warns) {
                new UnreadVariables(root)
                        .find(context.getSources(), bound, target).stream()
                                .filter(warned::add)
                                .forEach(problem -> log.warn("{} {}", problem.description(), problem.remedy()));
            }
        }

        /** Spring Boot checks for unknown names only after everything else is bound. */
        private void addUnknown(ConfigurationPropertyName name, Bindable<?> target, BindContext context)
                throws Exception {
            try {
                super.onFinish(name, target, context, null);
            } catch (UnboundConfigurationPropertiesException unknown) {
                unknown.getUnboundProperties().forEach(this::addUnknown);
            }
        }

        /** Skips unreadable settings: Spring Boot counts them as unknown too. */
        private void addUnknown(ConfigurationProperty property) {
            Problem problem = BindProblems.unknown(property);
            if (unreadable.stream()
                            .noneMatch(name -> name.equals(property.getName()) || name.isAncestorOf(property.getName()))
                    && !problems.contains(problem)) {
                problems.add(problem);
            }
        }

        private void add(ConfigurationPropertyName name, Bindable<?> target, BindContext context, Exception error) {
            InvalidConfigurationException known = BindProblems.causeOf(error, InvalidConfigurationException.class);
            UnboundConfigurationPropertiesException unknown =
                    BindProblems.causeOf(error, UnboundConfigurationPropertiesException.class);
            if (known != null) {
                problems.addAll(known.problems());
            } else if (unknown != null) {
                unknown.getUnboundProperties().forEach(this::addUnknown);
            } else {
                unreadable.add(name);
                problems.add(BindProblems.unreadable(name, target, context.getConfigurationProperty(), error));
            }
        }
    }
}
