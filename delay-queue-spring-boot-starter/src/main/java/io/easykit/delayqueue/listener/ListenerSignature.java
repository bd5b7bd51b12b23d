package io.easykit.delayqueue.listener;

import io.easykit.delayqueue.Acknowledgment;
import io.easykit.delayqueue.DelayMessage;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.GenericTypeResolver;
import org.springframework.core.MethodParameter;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedMethod;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Headers;
import org.springframework.messaging.handler.annotation.Payload;

/**
 * The parameters of a listener's method, read and checked once.
 *
 * @param payloadType type to read payloads as
 * @param arguments the source of each argument; for a batch, of each element of its list
 * @param manual whether the method settles messages itself
 */
record ListenerSignature(Type payloadType, List<Argument> arguments, boolean manual) {

    /** Computes an argument from a message. */
    @FunctionalInterface
    interface Argument {
        @Nullable Object of(DelayMessage<?> message);
    }

    /**
     * Returns the signature of a method that takes one message per call.
     *
     * @throws InvalidDelayListenerException if an argument cannot be determined
     */
    static ListenerSignature single(ListenerMethod where, Placeholders placeholders) {
        List<Argument> arguments = new ArrayList<>();
        Set<Type> payloadTypes = new LinkedHashSet<>();
        int payloads = 0;
        int messages = 0;
        boolean manual = false;
        for (MethodParameter parameter : new AnnotatedMethod(where.method()).getMethodParameters()) {
            refuseExpression(where, parameter);
            Class<?> type = parameter.getParameterType();
            if (parameter.hasParameterAnnotation(Header.class)) {
                arguments.add(HeaderArgument.of(where, parameter, placeholders));
            } else if (parameter.hasParameterAnnotation(Headers.class)) {
                arguments.add(HeaderArgument.all(where, parameter));
            } else if (type == Acknowledgment.class) {
                arguments.add(DelayMessage::acknowledgment);
                manual = true;
            } else if (type == DelayMessage.class) {
                arguments.add(message -> message);
                payloadTypeOf(where, parameter.getGenericParameterType()).ifPresent(payloadTypes::add);
                messages++;
            } else {
                arguments.add(DelayMessage::payload);
                payloadTypes.add(resolved(where, parameter.getGenericParameterType()));
                payloads++;
            }
        }
        if (payloads > 1) {
            throw where.problem(
                    "it has " + payloads + " parameters for the payload",
                    "Keep one of them, and put Spring's @Header on parameters that take headers.");
        }
        if (payloads + messages == 0) {
            throw where.problem(
                    "it has no parameter for the payload",
                    "Add one of the payload's type, or a DelayMessage of it. Messages are read as that type.");
        }
        return new ListenerSignature(onlyOne(where, payloadTypes), List.copyOf(arguments), manual);
    }

    /**
     * Returns the signature of a method that takes several messages per call.
     *
     * @throws InvalidDelayListenerException if an argument cannot be determined
     */
    static ListenerSignature batch(ListenerMethod where) {
        Type[] parameters = where.method().getGenericParameterTypes();
        if (parameters.length != 1 || where.method().getParameterTypes()[0] != List.class) {
            throw where.problem(
                    "it has a batchSize, but takes something else than one List",
                    "Declare List<T> or List<DelayMessage<T>> as the only parameter, or remove batchSize.");
        }
        Type element = elementOf(where, parameters[0]);
        boolean messages = ResolvableType.forType(element).resolve() == DelayMessage.class;
        Type payload = messages
                ? payloadTypeOf(where, element).orElseThrow(() -> untyped(where, "List<DelayMessage<CloseOrder>>"))
                : resolved(where, element);
        return new ListenerSignature(payload, List.of(messages ? message -> message : DelayMessage::payload), false);
    }

    private static Type onlyOne(ListenerMethod where, Set<Type> payloadTypes) {
        if (payloadTypes.isEmpty()) {
            throw untyped(where, "DelayMessage<CloseOrder>");
        }
        if (payloadTypes.size() > 1) {
            throw where.problem(
                    "its parameters have different payload types: " + payloadTypes,
                    "Use one type, or keep one of them.");
        }
        return payloadTypes.iterator().next();
    }

    private static Type elementOf(ListenerMethod where, Type list) {
        if (list instanceof ParameterizedType parameterized) {
            return parameterized.getActualTypeArguments()[0];
        }
        throw untyped(where, "List<CloseOrder>");
    }

    /** Returns the type argument of a {@code DelayMessage}; empty for a raw type or a wildcard. */
    private static Optional<Type> payloadTypeOf(ListenerMethod where, Type message) {
        if (message instanceof ParameterizedType parameterized) {
            Type payload = parameterized.getActualTypeArguments()[0];
            return payload instanceof WildcardType ? Optional.empty() : Optional.of(resolved(where, payload));
        }
        return Optional.empty();
    }

    private static Type resolved(ListenerMethod where, Type declared) {
        Type type = GenericTypeResolver.resolveType(declared, where.targetClass());
        if (hasVariable(type)) {
            throw where.problem(
                    "the type of the payload, " + type.getTypeName() + ", is unknown",
                    "Declare a type without variables, for example by overriding the method in the bean's class.");
        }
        if (mentions(type, DelayMessage.class)) {
            throw batchWithoutSize(where);
        }
        return type;
    }

    private static InvalidDelayListenerException batchWithoutSize(ListenerMethod where) {
        return where.problem(
                "it takes DelayMessages inside another type", "For a batch, declare a List of them and set batchSize.");
    }

    private static InvalidDelayListenerException untyped(ListenerMethod where, String example) {
        return where.problem("the type of the payload is unknown", "Declare it, for example " + example + ".");
    }

    private static boolean hasVariable(Type type) {
        return type instanceof TypeVariable<?> || parts(type).anyMatch(ListenerSignature::hasVariable);
    }

    private static boolean mentions(Type type, Class<?> sought) {
        return type == sought || parts(type).anyMatch(part -> mentions(part, sought));
    }

    private static Stream<Type> parts(Type type) {
        if (type instanceof ParameterizedType parameterized) {
            return Stream.concat(
                    Stream.of(parameterized.getRawType()), Stream.of(parameterized.getActualTypeArguments()));
        }
        if (type instanceof GenericArrayType array) {
            return Stream.of(array.getGenericComponentType());
        }
        if (type instanceof WildcardType wildcard) {
            return Stream.of(wildcard.getUpperBounds());
        }
        return Stream.empty();
    }

    private static void refuseExpression(ListenerMethod where, MethodParameter parameter) {
        Payload payload = parameter.getParameterAnnotation(Payload.class);
        if (payload != null && !(payload.value() + payload.expression()).isEmpty()) {
            throw where.problem(
                    "the expression of @Payload is not supported",
                    "Remove it, and take the part of the payload that you need in the method.");
        }
    }
}
