package io.easykit.delayqueue.listener;

import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.LogText;
import io.easykit.delayqueue.annotation.Header;
import io.easykit.delayqueue.listener.ListenerSignature.Argument;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.convert.ApplicationConversionService;
import org.springframework.core.MethodParameter;
import org.springframework.core.ResolvableType;
import org.springframework.core.convert.ConversionException;
import org.springframework.core.convert.ConversionService;
import org.springframework.core.convert.TypeDescriptor;

/** A parameter that takes one header of a message. */
final class HeaderArgument implements Argument {

    private static final ConversionService CONVERSIONS = ApplicationConversionService.getSharedInstance();
    private static final TypeDescriptor TEXT = TypeDescriptor.valueOf(String.class);

    private final String name;
    private final boolean required;
    private final boolean optional;
    private final TypeDescriptor type;

    private HeaderArgument(String name, boolean required, boolean optional, TypeDescriptor type) {
        this.name = name;
        this.required = required;
        this.optional = optional;
        this.type = type;
    }

    /**
     * Reads and checks an annotated parameter.
     *
     * @throws InvalidDelayListenerException if it cannot take a header
     */
    static Argument of(ListenerMethod where, MethodParameter parameter) {
        Header header = Objects.requireNonNull(parameter.getParameterAnnotation(Header.class));
        if (header.value().isEmpty() && Map.class.isAssignableFrom(parameter.getParameterType())) {
            requireMapOfTexts(where, parameter);
            return DelayMessage::headers;
        }
        boolean optional = parameter.getParameterType() == Optional.class;
        TypeDescriptor type = new TypeDescriptor(optional ? parameter.nestedIfOptional() : parameter);
        String name = header.value().isEmpty() ? parameter.getParameterName() : header.value();
        if (name == null) {
            throw where.problem(
                    "the name of the header for parameter " + parameter.getParameterIndex() + " is unknown",
                    "Name it, as in @Header(\"tenant\"), or compile with -parameters.");
        }
        if (!header.required() && parameter.getParameterType().isPrimitive()) {
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
        return new HeaderArgument(name, header.required() && !optional, optional, type);
    }

    private static void requireMapOfTexts(ListenerMethod where, MethodParameter parameter) {
        ResolvableType type = ResolvableType.forMethodParameter(parameter);
        boolean fits = parameter.getParameterType() == Map.class
                && type.getGeneric(0).resolve() == String.class
                && type.getGeneric(1).resolve() == String.class;
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
        Object value = text == null ? null : converted(text);
        return optional ? Optional.ofNullable(value) : value;
    }

    private @Nullable Object converted(String text) {
        try {
            return CONVERSIONS.convert(text, TEXT, type);
        } catch (ConversionException e) {
            throw new InvalidHeaderException(
                    "The header '" + name + "' of the message is not a valid "
                            + type.getType().getTypeName() + ": '" + LogText.of(text) + "'.",
                    null);
        }
    }
}
