package io.easykit.delayqueue.listener;

import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.listener.ListenerSignature.Argument;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.convert.ApplicationConversionService;
import org.springframework.core.MethodParameter;
import org.springframework.core.Nullness;
import org.springframework.core.ResolvableType;
import org.springframework.core.convert.ConversionException;
import org.springframework.core.convert.ConversionService;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.ValueConstants;

/** A parameter that takes one header of a message. */
final class HeaderArgument implements Argument {

    private static final ConversionService CONVERSIONS = ApplicationConversionService.getSharedInstance();
    private static final TypeDescriptor TEXT = TypeDescriptor.valueOf(String.class);

    private final String name;
    private final boolean required;
    private final boolean optional;
    private final TypeDescriptor type;
    private final @Nullable String defaultValue;

    private HeaderArgument(
            String name, boolean required, boolean optional, TypeDescriptor type, @Nullable String defaultValue) {
        this.name = name;
        this.required = required;
        this.optional = optional;
        this.type = type;
        this.defaultValue = defaultValue;
    }

    /**
     * Reads and checks an annotated parameter.
     *
     * @throws InvalidDelayListenerException if it cannot take a header
     */
    static Argument of(ListenerMethod where, MethodParameter parameter, Placeholders placeholders) {
        Header header = Objects.requireNonNull(parameter.getParameterAnnotation(Header.class));
        String given = header.name().isEmpty() ? header.value() : header.name();
        if (given.isEmpty() && Map.class.isAssignableFrom(parameter.getParameterType())) {
            throw where.problem("@Header is on a Map, and is the annotation of one header", "Use @Headers for all.");
        }
        boolean optional = parameter.getParameterType() == Optional.class;
        TypeDescriptor type = new TypeDescriptor(optional ? parameter.nestedIfOptional() : parameter);
        String name = given.isEmpty() ? parameter.getParameterName() : nameOf(where, given, placeholders);
        if (name == null) {
            throw where.problem(
                    "the name of the header for parameter " + parameter.getParameterIndex() + " is unknown",
                    "Name it, as in @Header(\"tenant\"), or compile with -parameters.");
        }
        boolean required = header.required() && !hasDefault(header) && !isNullable(parameter);
        if (!required && !hasDefault(header) && parameter.getParameterType().isPrimitive()) {
            throw where.problem(
                    "the header '" + name + "' may be missing, and a primitive cannot be null",
                    "Use an Optional or an object type.");
        }
        if (!CONVERSIONS.canConvert(TEXT, type)) {
            throw where.problem(
                    "the header '" + name + "' cannot be converted to "
                            + type.getType().getTypeName(),
                    "Headers are strings: use a String, a number, an enum, a UUID or a similar type.");
        }
        HeaderArgument argument =
                new HeaderArgument(name, required, optional, type, defaultOf(where, header, name, placeholders));
        requireConvertible(where, argument);
        return argument;
    }

    /**
     * Reads and checks a parameter that is given all headers.
     *
     * @throws InvalidDelayListenerException if it is no {@code Map<String, String>} or {@code Map<String, Object>}
     */
    static Argument all(ListenerMethod where, MethodParameter parameter) {
        requireMapOfTexts(where, parameter);
        return DelayMessage::headers;
    }

    /** Also by {@code String?} of Kotlin. A default value of Kotlin does not count: a call by reflection does not use it. */
    private static boolean isNullable(MethodParameter parameter) {
        return parameter.getParameterType() == Optional.class
                || Nullness.forMethodParameter(parameter) == Nullness.NULLABLE;
    }

    private static boolean hasDefault(Header header) {
        return !header.defaultValue().equals(ValueConstants.DEFAULT_NONE);
    }

    private static String nameOf(ListenerMethod where, String given, Placeholders placeholders) {
        refuseExpression(where, "the name of the header '" + given + "'", given);
        String name = placeholders.resolve("@Header", given).strip();
        if (name.isEmpty()) {
            throw where.problem("the name of the header '" + given + "' is empty", "Name the header.");
        }
        return name;
    }

    private static @Nullable String defaultOf(
            ListenerMethod where, Header header, String name, Placeholders placeholders) {
        if (!hasDefault(header)) {
            return null;
        }
        refuseExpression(where, "the default of the header '" + name + "'", header.defaultValue());
        return placeholders.resolve("defaultValue", header.defaultValue());
    }

    private static void refuseExpression(ListenerMethod where, String what, String text) {
        if (text.contains("#{")) {
            throw where.problem(
                    what + " is an expression, which is not supported", "Give a text. It may hold placeholders.");
        }
    }

    private static void requireConvertible(ListenerMethod where, HeaderArgument argument) {
        String text = argument.defaultValue;
        if (text == null) {
            return;
        }
        try {
            argument.converted(text);
        } catch (InvalidHeaderException e) {
            throw where.problem(
                    "the default of the header '" + argument.name + "' is no "
                            + argument.type.getType().getTypeName(),
                    "Give one that can be converted.");
        }
    }

    private static void requireMapOfTexts(ListenerMethod where, MethodParameter parameter) {
        ResolvableType type = ResolvableType.forMethodParameter(parameter);
        boolean fits = parameter.getParameterType() == Map.class
                && type.getGeneric(0).resolve() == String.class
                && (type.getGeneric(1).resolve() == String.class
                        || type.getGeneric(1).resolve() == Object.class);
        if (!fits) {
            throw where.problem("all headers cannot be injected as " + type, "Use Map<String, String>.");
        }
    }

    /** @throws InvalidHeaderException if the header is missing or cannot be converted */
    @Override
    public @Nullable Object of(DelayMessage<?> message) {
        String text = message.headers().get(name);
        if (text == null && required) {
            throw new InvalidHeaderException("The message has no header '" + name + "'.", null);
        }
        String present = text == null ? defaultValue : text;
        Object value = present == null ? null : converted(present);
        return optional ? Optional.ofNullable(value) : value;
    }

    /** The text of the exception is kept with the message, also for users who may not see header values. */
    private @Nullable Object converted(String text) {
        try {
            return CONVERSIONS.convert(text, TEXT, type);
        } catch (ConversionException e) {
            throw new InvalidHeaderException(
                    "The header '" + name + "' of the message is not a valid "
                            + type.getType().getTypeName() + ".",
                    null);
        }
    }
}
