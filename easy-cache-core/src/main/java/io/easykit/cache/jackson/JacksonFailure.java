package io.easykit.cache.jackson;

import io.easykit.cache.UncacheableValueException;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.exc.InvalidDefinitionException;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.exc.UnrecognizedPropertyException;

/**
 * Describes a failure without quoting the value. Jackson's own messages quote texts, numbers and the keys of maps, and
 * exceptions of the application's constructors may contain anything.
 */
final class JacksonFailure {

    /** Jackson's text before the value. */
    private static final Pattern QUOTATION = Pattern.compile("(?s)( to deserialize from |['\"]).*");

    private JacksonFailure() {}

    static String describe(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof UncacheableValueException) {
                return String.valueOf(cause.getMessage());
            }
        }
        return failure instanceof JacksonException known
                ? kind(known) + " at value" + path(known)
                : failure.getClass().getName();
    }

    private static String kind(JacksonException failure) {
        if (failure instanceof InvalidDefinitionException definition) {
            return QUOTATION.matcher(definition.getOriginalMessage()).replaceFirst("");
        }
        String name = failure.getClass().getSimpleName();
        if (failure instanceof MismatchedInputException mismatch && mismatch.getTargetType() != null) {
            return name + " for a " + mismatch.getTargetType().getTypeName();
        }
        Throwable cause = failure.getCause();
        return cause == null ? name : name + " by " + cause.getClass().getName();
    }

    /** Without the name of an unknown property, which is a part of the value. */
    private static String path(JacksonException failure) {
        StringBuilder path = new StringBuilder();
        List<JacksonException.Reference> steps = failure.getPath();
        boolean unknown = failure instanceof UnrecognizedPropertyException && !steps.isEmpty();
        for (JacksonException.Reference step : unknown ? steps.subList(0, steps.size() - 1) : steps) {
            String name = step.getPropertyName();
            if (name == null) {
                path.append('[').append(step.getIndex()).append(']');
            } else if (isMap(step.from())) {
                path.append("{}");
            } else {
                path.append('.').append(name);
            }
        }
        return path.toString();
    }

    private static boolean isMap(@Nullable Object from) {
        return from instanceof Map<?, ?> || (from instanceof Class<?> type && Map.class.isAssignableFrom(type));
    }
}
