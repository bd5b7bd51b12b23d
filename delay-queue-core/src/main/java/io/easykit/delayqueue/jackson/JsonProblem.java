package io.easykit.delayqueue.jackson;

import io.easykit.delayqueue.support.LogText;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.databind.exc.InvalidDefinitionException;
import tools.jackson.databind.exc.InvalidTypeIdException;

/**
 * Describes an exception of Jackson without any text of the payload, which must not reach logs. Jackson's own messages quote
 * values, keys and parts of the source, and so may the exceptions of constructors and getters behind them. So only this is
 * named: the kinds of the exceptions, the property, the position, and the place in the code that threw.
 */
final class JsonProblem {

    private JsonProblem() {}

    static String of(JacksonException e) {
        StringBuilder text = new StringBuilder(e.getClass().getSimpleName());
        String path = path(e);
        if (!path.isEmpty()) {
            text.append(" at ").append(path);
        }
        if (e.getLocation() != null && e.getLocation().getByteOffset() >= 0) {
            text.append(", byte ").append(e.getLocation().getByteOffset());
        }
        Throwable root = root(e);
        if (root != e) {
            text.append(", caused by ").append(root.getClass().getName());
            StackTraceElement[] stack = root.getStackTrace();
            if (stack.length > 0) {
                text.append(" at ").append(stack[0]);
            }
        }
        return text.append(hint(e)).toString();
    }

    /** Text from the kind of the exception, about types or limits, and never about values. */
    private static String hint(JacksonException e) {
        if (e instanceof InvalidTypeIdException) {
            return ": the type id is missing or unknown. A sender of a generic payload, such as a list of a polymorphic type,"
                    + " has to give its type: OutgoingMessage.payloadType(…)";
        }
        if (e instanceof InvalidDefinitionException) {
            String message = e.getOriginalMessage();
            int end = message.indexOf("): ");
            return ": " + LogText.of(end < 0 ? message : message.substring(0, end + 1));
        }
        return e instanceof StreamConstraintsException ? ": " + LogText.of(e.getOriginalMessage()) : "";
    }

    /** Names of properties and indexes; the keys of maps are payload. */
    private static String path(JacksonException e) {
        StringBuilder path = new StringBuilder();
        for (JacksonException.Reference step : e.getPath()) {
            String property = step.getPropertyName();
            if (property == null) {
                path.append('[').append(step.getIndex()).append(']');
            } else if (isMap(step.from())) {
                path.append("[key]");
            } else {
                path.append(path.isEmpty() ? "" : ".").append(LogText.of(property));
            }
        }
        return path.toString();
    }

    private static boolean isMap(Object from) {
        return from instanceof Map || (from instanceof Class<?> type && Map.class.isAssignableFrom(type));
    }

    private static Throwable root(Throwable e) {
        Throwable root = e;
        for (int i = 0; root.getCause() != null && i < 10; i++) {
            root = root.getCause();
        }
        return root;
    }
}
