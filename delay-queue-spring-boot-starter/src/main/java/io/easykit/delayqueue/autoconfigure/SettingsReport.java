package io.easykit.delayqueue.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.bind.AbstractBindHandler;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.core.ResolvableType;
import org.springframework.core.convert.ConverterNotFoundException;
import org.springframework.util.ClassUtils;

/**
 * Binds the settings of one prefix to their end, wrong ones included, and then reports all that are wrong. Boot itself stops
 * at the first one, and says of it only which type it cannot be converted to.
 */
final class SettingsReport implements ConfigurationPropertiesBindHandlerAdvisor {

    private static final Set<String> SECRETS = Set.of("password", "username", "url");

    private final ConfigurationPropertyName root;

    SettingsReport(String root) {
        this.root = ConfigurationPropertyName.of(root);
    }

    @Override
    public BindHandler apply(BindHandler handler) {
        return new Collector(handler);
    }

    private final class Collector extends AbstractBindHandler {

        private final List<Problem> problems = new ArrayList<>();

        Collector(BindHandler parent) {
            super(parent);
        }

        /** A setting that cannot be read counts as not set until all are read. */
        @Override
        public @Nullable Object onFailure(
                ConfigurationPropertyName name, Bindable<?> target, BindContext context, Exception error)
                throws Exception {
            if (root.equals(name)) {
                add(name, target, context, error);
                addUnknown(name, target, context);
                throw new InvalidSettingException(problems);
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
                throw new InvalidSettingException(List.of());
            }
        }

        /** Boot looks for unknown names only after all else could be bound. */
        private void addUnknown(ConfigurationPropertyName name, Bindable<?> target, BindContext context)
                throws Exception {
            try {
                super.onFinish(name, target, context, null);
            } catch (UnboundConfigurationPropertiesException unknown) {
                unknown.getUnboundProperties().stream()
                        .map(SettingsReport::unknown)
                        .filter(problem -> !problems.contains(problem))
                        .forEach(problems::add);
            }
        }

        private void add(ConfigurationPropertyName name, Bindable<?> target, BindContext context, Exception error) {
            InvalidSettingException known = causeOf(error, InvalidSettingException.class);
            UnboundConfigurationPropertiesException unknown =
                    causeOf(error, UnboundConfigurationPropertiesException.class);
            if (known != null) {
                problems.addAll(known.problems());
            } else if (unknown != null) {
                unknown.getUnboundProperties().forEach(property -> problems.add(unknown(property)));
            } else {
                problems.add(unreadable(name, target, context.getConfigurationProperty(), error));
            }
        }
    }

    private static Problem unknown(ConfigurationProperty property) {
        return new Problem(
                "The setting " + property.getName() + origin(property) + " does not exist.",
                "Correct its name, or remove it. A name with dots, colons or slashes stands in brackets.");
    }

    private static Problem unreadable(
            ConfigurationPropertyName name,
            Bindable<?> target,
            @Nullable ConfigurationProperty property,
            Exception error) {
        ResolvableType whole = target.getType();
        boolean several = Collection.class.isAssignableFrom(whole.resolve(Object.class));
        Class<?> type = (several ? whole.asCollection().getGeneric(0) : whole).resolve(Object.class);
        String value = property != null && name.equals(property.getName())
                ? " is '" + value(property) + "'" + origin(property) + ", which"
                : "";
        return new Problem(
                "The setting " + name + value + " cannot be read: " + reason(name, error) + ".", remedy(type));
    }

    private static Object value(ConfigurationProperty property) {
        return isSecret(property.getName()) ? "******" : property.getValue();
    }

    private static boolean isSecret(ConfigurationPropertyName name) {
        return SECRETS.contains(name.getLastElement(ConfigurationPropertyName.Form.UNIFORM));
    }

    private static String origin(ConfigurationProperty property) {
        return property.getOrigin() == null ? "" : " (" + property.getOrigin() + ")";
    }

    /** The text of the first cause, which says what is wrong with the value itself. */
    private static String reason(ConfigurationPropertyName name, Throwable error) {
        Throwable root = error;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        if (root instanceof ConverterNotFoundException) {
            return "no single value says it";
        }
        if (isSecret(name) || root.getMessage() == null) {
            return root.getClass().getSimpleName();
        }
        return root.getMessage().replaceFirst("\\.$", "");
    }

    private static String remedy(Class<?> target) {
        Class<?> type = ClassUtils.resolvePrimitiveIfNecessary(target);
        if (type == Duration.class) {
            return "Write a number with its unit, for example 250ms, 30s, 10m or 2h.";
        } else if (type == Boolean.class) {
            return "Write true or false.";
        } else if (type == Integer.class || type == Long.class) {
            return "Write a whole number.";
        } else if (type == Double.class) {
            return "Write a number, for example 0.5.";
        } else if (type.isEnum()) {
            return "Write one of "
                    + Arrays.stream(type.getEnumConstants())
                            .map(one -> ((Enum<?>) one)
                                    .name()
                                    .toLowerCase(Locale.ROOT)
                                    .replace('_', '-'))
                            .collect(Collectors.joining(", "))
                    + ".";
        } else if (type == Class.class) {
            return "Write the full name of a class that the application has.";
        } else if (Map.class.isAssignableFrom(type) || type.isRecord()) {
            return "It has no value of its own. Write the settings below it.";
        }
        return "Correct the value, or remove it.";
    }

    private static <T extends Throwable> @Nullable T causeOf(Throwable error, Class<T> type) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (type.isInstance(cause)) {
                return type.cast(cause);
            }
        }
        return null;
    }
}
