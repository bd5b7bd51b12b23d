package io.easykit.delayqueue.listener;

import org.springframework.core.env.PropertyResolver;

/** Resolves the placeholders in the annotations of a listener. */
record Placeholders(ListenerMethod where, PropertyResolver properties) {

    /**
     * Returns a text without placeholders.
     *
     * @param attribute name of the attribute, for the report
     * @throws InvalidDelayListenerException if a placeholder has no value
     */
    String resolve(String attribute, String value) {
        try {
            return properties.resolveRequiredPlaceholders(value);
        } catch (IllegalArgumentException unresolved) {
            throw where.problem(
                    "the placeholder in " + attribute + " = \"" + value + "\" cannot be resolved",
                    "Set the property, or add a default value, as in ${name:5}.",
                    unresolved);
        }
    }
}
