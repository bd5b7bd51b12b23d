package io.easykit.boot;

import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.core.ResolvableType;
import org.springframework.core.convert.ConverterNotFoundException;
import org.springframework.util.ClassUtils;
import org.springframework.util.unit.DataSize;

/** Describes settings that do not exist or cannot be read, with a remedy for the type of the setting. */
final class BindProblems {

    private static final Set<String> SECRETS = Set.of("password", "username", "url");

    private BindProblems() {}

    static Problem unknown(ConfigurationProperty property) {
        if (property.getValue() == null || property.getValue().toString().isBlank()) {
            return new Problem(
                    "The setting " + property.getName() + origin(property) + " has no value.",
                    "Write a value, or remove it.");
        }
        return new Problem(
                "The setting " + property.getName() + origin(property) + " does not exist.",
                "Correct its name, or remove it. Put a name with dots, colons or slashes in brackets.");
    }

    static Problem unreadable(
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

    /** Spring Boot would read the number as milliseconds or bytes, which is rarely intended. It may come from a placeholder. */
    static @Nullable Problem withoutUnit(BindContext context, Object result) {
        ConfigurationProperty property = context.getConfigurationProperty();
        if (property == null || !(result instanceof Duration || result instanceof DataSize)) {
            return null;
        }
        String text = context.getBinder()
                .bind(property.getName(), Bindable.of(String.class))
                .orElse("")
                .strip();
        if (!DurationTexts.lacksUnit(text)) {
            return null;
        }
        return new Problem(
                "The setting " + property.getName() + " is '" + text + "'" + origin(property) + ", which has no unit.",
                remedy(result.getClass()));
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

    /** Returns the text of the root cause, which describes the error in the value. */
    private static String reason(ConfigurationPropertyName name, Throwable error) {
        Throwable root = error;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        if (root instanceof ConverterNotFoundException) {
            return "it is a group of settings";
        }
        if (root instanceof ClassNotFoundException) {
            return "there is no such class";
        }
        if (root instanceof NumberFormatException) {
            return "it is no number of this kind";
        }
        String text = String.valueOf(root.getMessage());
        if (text.startsWith("No enum constant")) {
            return "there is no such value";
        }
        if (text.startsWith("A null value")) {
            return "it has no value";
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
        } else if (type == DataSize.class) {
            return "Write a number with its unit, for example 512KB or 8MB.";
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

    static <T extends Throwable> @Nullable T causeOf(Throwable error, Class<T> type) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (type.isInstance(cause)) {
                return type.cast(cause);
            }
        }
        return null;
    }
}
