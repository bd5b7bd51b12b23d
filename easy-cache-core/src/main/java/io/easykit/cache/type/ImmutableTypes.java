package io.easykit.cache.type;

import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Types whose values are immutable, to any depth: safe to give to several readers. */
public final class ImmutableTypes {

    private static final Set<Class<?>> KNOWN = Set.of(
            String.class,
            Boolean.class,
            Character.class,
            Byte.class,
            Short.class,
            Integer.class,
            Long.class,
            Float.class,
            Double.class,
            BigDecimal.class,
            BigInteger.class,
            UUID.class,
            URI.class);

    /** Keeps no class loader in memory, as that of an application which is restarted inside its JVM. */
    private static final ClassValue<Boolean> FOUND = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            return find(type, Set.of());
        }
    };

    private ImmutableTypes() {}

    public static boolean contain(Type type) {
        return type instanceof Class<?> single ? FOUND.get(single) : find(type, Set.of());
    }

    private static boolean find(Type type, Set<Type> above) {
        if (type instanceof ParameterizedType optional && optional.getRawType() == Optional.class) {
            return find(optional.getActualTypeArguments()[0], above);
        }
        if (!(type instanceof Class<?> single)) {
            return false;
        }
        return single.isPrimitive()
                || KNOWN.contains(single)
                || single.isEnum()
                || (single.getPackageName().equals("java.time") && Modifier.isFinal(single.getModifiers()))
                || (single.isRecord() && !above.contains(single) && hasOnlyImmutableParts(single, above));
    }

    private static boolean hasOnlyImmutableParts(Class<?> type, Set<Type> above) {
        Set<Type> all = Stream.concat(above.stream(), Stream.of(type)).collect(Collectors.toSet());
        return Stream.of(type.getRecordComponents())
                .map(RecordComponent::getGenericType)
                .allMatch(part -> find(part, all));
    }
}
