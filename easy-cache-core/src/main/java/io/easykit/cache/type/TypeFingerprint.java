package io.easykit.cache.type;

import java.lang.annotation.Annotation;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.MalformedParametersException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A short text that changes when the structure of a type changes: its fields, their types, the constants of its enums, its
 * subtypes, to any depth. Values are stored under it, so a node with different classes does not read values that it would
 * restore half: neither older nor newer ones.
 *
 * <p>Of classes of the JDK only the names count. Of annotations only those of Jackson do, and those that contain them
 * ({@code @JacksonAnnotationsInside}): they describe how an object is built. Mix-ins are not part of the type, and do not count. The
 * texts that {@code @JsonValue} gives the constants of an enum count. The order of fields does not count, since reflection does
 * not promise any. Fields that are {@code transient} count: a version that fills such a field must not read the value of one that
 * does not have it.
 */
public final class TypeFingerprint {

    /** Part of every fingerprint. Raise it if the codec's form of values changes. */
    private static final String FORM = "4";

    /** Marks an annotation type whose own annotations count in its place. */
    private static final String BUNDLE = "com.fasterxml.jackson.annotation.JacksonAnnotationsInside";

    /** Characters of 6 bits each. */
    private static final int LENGTH = 6;

    private final StringBuilder text = new StringBuilder(FORM);
    private final Map<String, Integer> seen = new HashMap<>();
    private final Set<TypeVariable<?>> bounds = new HashSet<>();

    private TypeFingerprint() {}

    /** Six characters: letters, digits, {@code -} and {@code _}. */
    public static String of(Type type) {
        TypeFingerprint fingerprint = new TypeFingerprint();
        fingerprint.visit(type, Map.of());
        return hash(fingerprint.text.toString());
    }

    private static String hash(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return Base64.getUrlEncoder().encodeToString(digest).substring(0, LENGTH);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private void visit(Type type, Map<TypeVariable<?>, Type> arguments) {
        if (type instanceof Class<?> plain) {
            visitClass(plain, Map.of());
        } else if (type instanceof ParameterizedType generic) {
            visitGeneric(generic, arguments);
        } else if (type instanceof GenericArrayType array) {
            text.append("[]");
            visit(array.getGenericComponentType(), arguments);
        } else if (type instanceof WildcardType wildcard) {
            visit(wildcard.getUpperBounds()[0], arguments);
        } else if (type instanceof TypeVariable<?> variable) {
            Type argument = arguments.get(variable);
            if (argument != null && !argument.equals(variable)) {
                visit(argument, Map.of());
            } else {
                Type bound = variable.getBounds()[0];
                text.append(bound.getTypeName());
                // A bound may contain its own variable.
                if (bounds.add(variable)) {
                    visit(bound, arguments);
                }
            }
        }
    }

    private void visitGeneric(ParameterizedType generic, Map<TypeVariable<?>, Type> outer) {
        Class<?> raw = (Class<?>) generic.getRawType();
        Map<TypeVariable<?>, Type> arguments = new LinkedHashMap<>();
        TypeVariable<?>[] variables = raw.getTypeParameters();
        text.append('<');
        for (int i = 0; i < variables.length; i++) {
            Type argument = resolve(generic.getActualTypeArguments()[i], outer);
            arguments.put(variables[i], argument);
            visit(argument, outer);
            text.append(',');
        }
        text.append('>');
        visitClass(raw, arguments);
    }

    private static Type resolve(Type type, Map<TypeVariable<?>, Type> arguments) {
        return type instanceof TypeVariable<?> variable ? arguments.getOrDefault(variable, type) : type;
    }

    private void visitClass(Class<?> type, Map<TypeVariable<?>, Type> arguments) {
        if (type.isArray()) {
            text.append("[]");
            visitClass(type.getComponentType(), Map.of());
            return;
        }
        text.append(type.getName());
        String occurrence = type.getName() + arguments;
        Integer known = seen.putIfAbsent(occurrence, seen.size());
        if (known != null) {
            text.append('#').append(known);
        } else if (!isOfTheJdk(type)) {
            visitStructure(type, arguments);
        }
    }

    private static boolean isOfTheJdk(Class<?> type) {
        return type.isPrimitive()
                || Stream.of("java.", "javax.", "jdk.", "sun.", "kotlin.").anyMatch(type.getName()::startsWith);
    }

    /** What cannot be loaded is left out: then it is not part of any value either. */
    private void visitStructure(Class<?> type, Map<TypeVariable<?>, Type> arguments) {
        text.append('{');
        try {
            visitAnnotations(type);
            if (type.isEnum()) {
                visitConstants(type);
            }
            visitCreators(type, arguments);
            visitFields(type, arguments);
            visitParent(type, arguments);
            if (type.isSealed()) {
                Arrays.stream(type.getPermittedSubclasses())
                        .sorted(Comparator.comparing(Class::getName))
                        .forEach(permitted -> visitClass(permitted, Map.of()));
            }
        } catch (LinkageError | TypeNotPresentException missing) {
            text.append('?');
        }
        text.append('}');
    }

    private void visitFields(Class<?> type, Map<TypeVariable<?>, Type> arguments) {
        Stream.of(type.getDeclaredFields())
                .filter(field -> !Modifier.isStatic(field.getModifiers()) && !field.isSynthetic())
                .sorted(Comparator.comparing(Field::getName))
                .forEach(field -> {
                    text.append(Modifier.isTransient(field.getModifiers()) ? "transient " : "");
                    text.append(field.getName()).append(':');
                    visitAnnotations(field);
                    visit(field.getGenericType(), arguments);
                    text.append(';');
                });
    }

    private void visitConstants(Class<?> type) {
        List<AccessibleObject> codes = EnumCodes.membersOf(type);
        for (Object constant : type.getEnumConstants()) {
            text.append(((Enum<?>) constant).name());
            EnumCodes.fieldOf((Enum<?>) constant).ifPresent(this::visitAnnotations);
            codes.forEach(code -> text.append('=').append(EnumCodes.read(code, constant)));
            text.append(',');
        }
    }

    /** Constructors and methods that Jackson uses: they, or their parameters, are annotated. */
    private void visitCreators(Class<?> type, Map<TypeVariable<?>, Type> arguments) {
        Stream<Executable> constructors = Stream.of(type.getDeclaredConstructors());
        Stream<Executable> methods = Stream.of(type.getDeclaredMethods());
        Stream.concat(constructors, methods)
                .filter(member -> !member.isSynthetic() && isAnnotated(member))
                .sorted(Comparator.comparing(Executable::toString))
                .forEach(member -> visitCreator(member, arguments));
    }

    private static boolean isAnnotated(Executable member) {
        return Stream.concat(Stream.of(member.getDeclaredAnnotations()), parameterAnnotations(member))
                .anyMatch(TypeFingerprint::isOfCodec);
    }

    private static Stream<Annotation> parameterAnnotations(Executable member) {
        return Stream.of(member.getParameterAnnotations()).flatMap(Stream::of);
    }

    private void visitCreator(Executable member, Map<TypeVariable<?>, Type> arguments) {
        text.append(member instanceof Constructor<?> ? "new" : member.getName());
        visitAnnotations(member);
        visitParameters(member, arguments);
        if (member instanceof Method method) {
            text.append("->");
            visit(method.getGenericReturnType(), arguments);
        }
    }

    /** The names of parameters may be those of properties. An obfuscator may have left some that are no names. */
    private void visitParameters(Executable member, Map<TypeVariable<?>, Type> arguments) {
        try {
            for (Parameter parameter : member.getParameters()) {
                text.append(',').append(parameter.getName()).append(':');
                visitAnnotations(parameter);
                visit(parameter.getParameterizedType(), arguments);
            }
        } catch (MalformedParametersException unnamed) {
            parameterAnnotations(member).filter(TypeFingerprint::isOfCodec).forEach(this::visitAnnotation);
            for (Type type : member.getGenericParameterTypes()) {
                text.append(',');
                visit(type, arguments);
            }
        }
    }

    private void visitParent(Class<?> type, Map<TypeVariable<?>, Type> arguments) {
        if (type.getSuperclass() != null && type.getSuperclass() != Object.class && !type.isRecord()) {
            text.append("extends ");
            visit(type.getGenericSuperclass(), arguments);
        }
        Stream.of(type.getGenericInterfaces())
                .sorted(Comparator.comparing(Type::getTypeName))
                .forEach(parent -> visit(parent, arguments));
    }

    private void visitAnnotations(AnnotatedElement element) {
        Stream.of(element.getDeclaredAnnotations())
                .filter(TypeFingerprint::isOfCodec)
                .sorted(Comparator.comparing(
                        annotation -> annotation.annotationType().getName()))
                .forEach(this::visitAnnotation);
    }

    private static boolean isOfCodec(Annotation annotation) {
        return isJacksons(annotation) || isBundle(annotation);
    }

    private static boolean isJacksons(Annotation annotation) {
        String name = annotation.annotationType().getName();
        return name.startsWith("com.fasterxml.jackson.") || name.startsWith("tools.jackson.");
    }

    /** Whether an annotation of the application stands for those of Jackson on its type. */
    private static boolean isBundle(Annotation annotation) {
        return Stream.of(annotation.annotationType().getDeclaredAnnotations())
                .anyMatch(inside -> inside.annotationType().getName().equals(BUNDLE));
    }

    private void visitAnnotation(Annotation annotation) {
        Class<?> type = annotation.annotationType();
        text.append('@').append(type.getName());
        if (isJacksons(annotation)) {
            visitAttributes(annotation);
        } else if (seen.putIfAbsent("@" + type.getName(), seen.size()) == null) {
            // A bundle may contain itself. Jackson ignores its attributes.
            visitAnnotations(type);
        }
    }

    private void visitAttributes(Annotation annotation) {
        text.append('(');
        Stream.of(annotation.annotationType().getDeclaredMethods())
                .sorted(Comparator.comparing(Method::getName))
                .forEach(attribute -> {
                    text.append(attribute.getName()).append('=');
                    visitValue(read(attribute, annotation));
                    text.append(',');
                });
        text.append(')');
    }

    /** An annotation may name classes, such as subtypes, whose structure counts too. */
    private void visitValue(Object value) {
        if (value instanceof Class<?> type) {
            visitClass(type, Map.of());
        } else if (value instanceof Annotation annotation) {
            visitAnnotation(annotation);
        } else if (value instanceof Object[] values) {
            new ArrayList<>(Arrays.asList(values)).forEach(element -> {
                visitValue(element);
                text.append(',');
            });
        } else {
            text.append(value);
        }
    }

    private static Object read(Method attribute, Annotation annotation) {
        try {
            attribute.setAccessible(true);
            return attribute.invoke(annotation);
        } catch (IllegalAccessException | InvocationTargetException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
