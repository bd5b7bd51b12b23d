package io.easykit.cache.type;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the declared type of a key part shows of the texts of its values, so that two declarations of one part can be compared.
 *
 * @param kind of the text; null if it depends on the value. A kind within another one begins with that one and a slash
 * @param content of a list or an {@code Optional}; null if it is unknown, or there is none
 */
public record DeclaredPart(@Nullable String kind, @Nullable DeclaredPart content) {

    /** Content deeper than this is unknown. A type variable may be bounded by a list of itself. */
    private static final int DEEPEST = 16;

    private static final DeclaredPart UNKNOWN = new DeclaredPart(null, null);

    public static DeclaredPart of(Type declared) {
        return of(declared, DEEPEST);
    }

    private static DeclaredPart of(Type declared, int depth) {
        if (depth == 0) {
            return UNKNOWN;
        }
        if (declared instanceof Class<?> type) {
            return new DeclaredPart(KeyText.kind(type), null);
        }
        if (declared instanceof ParameterizedType generic) {
            Class<?> type = (Class<?>) generic.getRawType();
            return new DeclaredPart(
                    KeyText.kind(type),
                    holdsItsArgument(type) ? of(generic.getActualTypeArguments()[0], depth - 1) : null);
        }
        if (declared instanceof WildcardType wildcard) {
            return of(wildcard.getUpperBounds()[0], depth - 1);
        }
        if (declared instanceof TypeVariable<?> variable) {
            return of(variable.getBounds()[0], depth - 1);
        }
        return UNKNOWN;
    }

    /** A list of another library may have elements of another type. */
    private static boolean holdsItsArgument(Class<?> type) {
        return type == Optional.class
                || (List.class.isAssignableFrom(type) && type.getName().startsWith("java.util."));
    }

    /** Whether a value of this declaration may have the text of a value of another one. */
    public boolean mayEqual(DeclaredPart other) {
        if (kind == null || other.kind == null) {
            return true;
        }
        return (isWithin(kind, other.kind) || isWithin(other.kind, kind))
                && (content == null || other.content == null || content.mayEqual(other.content));
    }

    /**
     * Whether a value of this declaration and one of another may both be values of a third declaration. A date of SQL and a timestamp
     * may both be a {@code java.util.Date}.
     */
    public boolean mayHaveCommonType(DeclaredPart other) {
        if (kind == null || other.kind == null) {
            return true;
        }
        return outermost(kind).equals(outermost(other.kind))
                && (content == null || other.content == null || content.mayHaveCommonType(other.content));
    }

    private static String outermost(String kind) {
        int slash = kind.indexOf('/');
        return slash < 0 ? kind : kind.substring(0, slash);
    }

    private static boolean isWithin(String kind, String other) {
        return kind.equals(other) || kind.startsWith(other + "/");
    }
}
