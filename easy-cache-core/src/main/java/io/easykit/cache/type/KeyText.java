package io.easykit.cache.type;

import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.math.BigInteger;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Writes one part of a key. The text depends on the value alone, never on the declared type: a read and an update that
 * declare a part differently still name the same entry.
 *
 * <p>Equal parts have equal texts, and unequal parts have different ones. Whole numbers count as equal by their value:
 * an {@code int} and a {@code long} id name the same entry. The grammar:
 *
 * <ul>
 *   <li>A whole number, a boolean and a UUID are written as they are: {@code 42}.
 *   <li>A text is written with a backslash before each of {@code \ : [ ] ,}, and with {@code \(} for a brace. A text that could be taken for a number, a
 *       boolean or a UUID begins with a backslash: {@code \42}.
 *   <li>A list is {@code [a,b,]}. Each element ends with a comma, so a list without elements differs from a list of one
 *       empty text.
 *   <li>A record or an object is {@code Type[from=a,to=b]}: all its fields in the order of their names, where {@code \N} is
 *       null. So another version of the class, whose fields have another order or other names, gives no key of another value.
 *   <li>Anything else is {@code Type[…]} with one text. The type keeps values of two types apart that have the same text.
 * </ul>
 *
 * <p>Only types whose values have such a text are accepted: those of {@link PlainKeyTypes}, enums, lists, optionals,
 * records, and classes all of whose fields are final. A {@code toString()} proves nothing, so it is never trusted.
 */
public final class KeyText {

    /** No part nests deeper; a value that contains itself ends here. */
    private static final int DEEPEST = 16;

    private static final String NULL = "\\N";
    private static final int UUID_LENGTH = 36;

    /** A Redis Cluster puts all keys with one text in braces on one master, so it is written as a backslash and a parenthesis. */
    private static final char BRACE = '{';

    private static final ClassValue<Form> FORMS = new ClassValue<>() {
        @Override
        protected Form computeValue(Class<?> type) {
            return findForm(type);
        }
    };

    private KeyText() {}

    /**
     * Appends one part of a key.
     *
     * @param prefix of the cache, for the message
     * @throws UnfitKeyException if the part is null or has no text of its own
     */
    public static void append(StringBuilder text, String prefix, @Nullable Object part) {
        append(text, prefix, part, 0);
    }

    private static void append(StringBuilder text, String prefix, @Nullable Object part, int depth) {
        if (part instanceof Long number) {
            text.append(number.longValue());
        } else if (part instanceof Integer number) {
            text.append(number.intValue());
        } else if (part instanceof String string) {
            appendString(text, string);
        } else if (part == null) {
            throw new UnfitKeyException("A key part of '" + prefix
                    + "' is null. Refuse null before the cached method, or set a condition, for example"
                    + " condition = \"#id != null\".");
        } else if (depth == DEEPEST) {
            throw refused(prefix, part.getClass());
        } else {
            FORMS.get(part.getClass()).append(text, prefix, part, depth + 1);
        }
    }

    private static void appendString(StringBuilder text, String part) {
        if (looksLikeAnotherType(part)) {
            text.append('\\');
        }
        escape(text, part);
    }

    private static boolean looksLikeAnotherType(String part) {
        return switch (part.length()) {
            case 0 -> false;
            // Not before another character: with the backslash it could be taken for an escape.
            case UUID_LENGTH -> (part.charAt(8) == '-' && Character.digit(part.charAt(0), 16) >= 0) || isNumber(part);
            default -> isNumber(part) || part.equals("true") || part.equals("false");
        };
    }

    static boolean isNumber(String part) {
        int first = !part.isEmpty() && part.charAt(0) == '-' ? 1 : 0;
        for (int i = first; i < part.length(); i++) {
            if (part.charAt(i) < '0' || part.charAt(i) > '9') {
                return false;
            }
        }
        return part.length() > first;
    }

    private static void escape(StringBuilder text, String part) {
        requireText(part);
        int copied = 0;
        for (int i = 0; i < part.length(); i++) {
            char c = part.charAt(i);
            if (c == BRACE) {
                text.append(part, copied, i).append("\\(");
                copied = i + 1;
            } else if (isReserved(c)) {
                text.append(part, copied, i).append('\\');
                copied = i;
            }
        }
        text.append(part, copied, part.length());
    }

    private static boolean isReserved(char c) {
        return switch (c) {
            case '\\', ':', '[', ']', ',' -> true;
            default -> false;
        };
    }

    /** Counts the parts of a key, from its text behind the prefix and two colons. A colon inside a part has a backslash. */
    public static int count(String parts) {
        int count = 1;
        for (int i = 0; i < parts.length(); i++) {
            switch (parts.charAt(i)) {
                case '\\' -> i++;
                case ':' -> count++;
                default -> {}
            }
        }
        return count;
    }

    /**
     * Checks that a text has a form in UTF-8. Half a surrogate pair has none: two such texts would become one key.
     *
     * @throws UnfitKeyException if it holds half a surrogate pair
     */
    public static void requireText(String part) {
        for (int i = 0; i < part.length(); i++) {
            if (!Character.isSurrogate(part.charAt(i))) {
                continue;
            }
            if (i + 1 == part.length() || !Character.isSurrogatePair(part.charAt(i), part.charAt(++i))) {
                throw new UnfitKeyException("A key part holds half a character (an unpaired surrogate), which"
                        + " no Redis key can hold. Check where the text was cut.");
            }
        }
    }

    /**
     * Finds what keeps the values of a declared type from being parts of keys.
     *
     * @return null if nothing does, or if it depends on the value
     */
    public static @Nullable Type unfit(Type declared) {
        return unfit(declared, new HashSet<>());
    }

    private static @Nullable Type unfit(Type declared, Set<Type> seen) {
        if (!seen.add(declared)) {
            return null;
        }
        if (declared instanceof Class<?> type) {
            return isFit(type, seen) ? null : type;
        }
        if (declared instanceof ParameterizedType generic) {
            Class<?> raw = (Class<?>) generic.getRawType();
            if (!isFit(raw, seen)) {
                return raw;
            }
            boolean holdsContent = raw == Optional.class || List.class.isAssignableFrom(raw);
            return holdsContent ? unfit(generic.getActualTypeArguments()[0], seen) : null;
        }
        if (declared instanceof WildcardType wildcard) {
            return unfit(wildcard.getUpperBounds()[0], seen);
        }
        if (declared instanceof TypeVariable<?> variable) {
            return unfit(variable.getBounds()[0], seen);
        }
        return declared instanceof GenericArrayType ? declared : null;
    }

    private static boolean isFit(Class<?> type, Set<Type> seen) {
        if (type.isPrimitive() || isKnown(type)) {
            return true;
        }
        if (type.isArray() || Map.class.isAssignableFrom(type) || Iterable.class == type) {
            return false;
        }
        if (Collection.class.isAssignableFrom(type)) {
            return List.class.isAssignableFrom(type);
        }
        if (type.isInterface() || Modifier.isAbstract(type.getModifiers()) || type == Object.class) {
            return true;
        }
        List<Field> fields = ValueFields.of(type);
        return fields != null && fields.stream().allMatch(field -> unfit(field.getGenericType(), seen) == null);
    }

    /**
     * Returns the kind of text that values of a declared type have in a key. A value of a subclass has this text too, or is
     * refused.
     *
     * @return null if it depends on the value
     */
    static @Nullable String kind(Class<?> declared) {
        Class<?> type = MethodType.methodType(declared).wrap().returnType();
        if (isWholeNumber(type)) {
            return "whole number";
        }
        if (List.class.isAssignableFrom(type)) {
            return "list";
        }
        PlainKeyTypes plain = PlainKeyTypes.find(type);
        if (plain != null) {
            return plain.kindOf(type);
        }
        return Modifier.isFinal(type.getModifiers()) || type.isEnum() ? nameOf(type) : null;
    }

    private static boolean isWholeNumber(Class<?> type) {
        return type == Long.class
                || type == Integer.class
                || type == Short.class
                || type == Byte.class
                || type == BigInteger.class;
    }

    private static boolean isKnown(Class<?> type) {
        return isWholeNumber(type)
                || type == String.class
                || type == Boolean.class
                || type == UUID.class
                || type == Optional.class
                || type == Locale.class
                || Enum.class.isAssignableFrom(type)
                || PlainKeyTypes.find(type) != null;
    }

    private static Form findForm(Class<?> type) {
        if (isWholeNumber(type) || type == Boolean.class || type == UUID.class) {
            return (text, prefix, part, depth) -> text.append(part);
        }
        if (List.class.isAssignableFrom(type)) {
            return (text, prefix, part, depth) -> appendAll(text, prefix, (List<?>) part, depth);
        }
        if (type == Optional.class) {
            return (text, prefix, part, depth) -> appendAll(
                    text.append("Optional"),
                    prefix,
                    ((Optional<?>) part).stream().toList(),
                    depth);
        }
        if (Enum.class.isAssignableFrom(type)) {
            return (text, prefix, part, depth) -> {
                Enum<?> constant = (Enum<?>) part;
                appendTyped(text, nameOf(constant.getDeclaringClass()), constant.name());
            };
        }
        if (type == Locale.class) {
            return (text, prefix, part, depth) ->
                    appendAll(text.append("Locale"), prefix, PlainKeyTypes.partsOf((Locale) part), depth);
        }
        PlainKeyTypes plain = PlainKeyTypes.find(type);
        if (plain != null) {
            return (text, prefix, part, depth) -> appendTyped(text, plain.tag(), plain.textOf(part));
        }
        List<Field> fields = ValueFields.of(type);
        return fields == null
                ? (text, prefix, part, depth) -> {
                    throw refused(prefix, type);
                }
                : (text, prefix, part, depth) -> appendFields(text, prefix, part, fields, depth);
    }

    private static void appendTyped(StringBuilder text, String type, String content) {
        escape(text.append(type).append('['), content);
        text.append(']');
    }

    private static void appendAll(StringBuilder text, String prefix, List<?> elements, int depth) {
        text.append('[');
        for (Object element : elements) {
            append(text, prefix, element, depth);
            text.append(',');
        }
        text.append(']');
    }

    private static void appendFields(StringBuilder text, String prefix, Object part, List<Field> fields, int depth) {
        text.append(nameOf(part.getClass())).append('[');
        String separator = "";
        for (Field field : fields) {
            escape(text.append(separator), field.getName());
            text.append('=');
            Object value = ValueFields.read(field, part);
            if (value == null) {
                text.append(NULL);
            } else {
                append(text, prefix, value, depth);
            }
            separator = ",";
        }
        text.append(']');
    }

    /** The names of known types have no dot, so those of other types get one. */
    private static String nameOf(Class<?> type) {
        String name = type.getName();
        return name.indexOf('.') < 0 ? "." + name : name;
    }

    private static UnfitKeyException refused(String prefix, Class<?> type) {
        return new UnfitKeyException("A key part of '" + prefix + "' is a " + type.getTypeName()
                + ", which has no text that is the same for equal values and another one for unequal values. Use its id"
                + " or a list of texts, or make it a record.");
    }

    /** How the values of one class are written. */
    @FunctionalInterface
    private interface Form {

        void append(StringBuilder text, String prefix, Object part, int depth);
    }
}
