package io.easykit.cache.springcache;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.InvalidCacheKeyException;
import java.lang.reflect.Field;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.springframework.cache.interceptor.SimpleKey;

/**
 * Turns keys of Spring's cache into keys of entries. Different keys never name the same entry, and no text of a key is trusted:
 *
 * <ul>
 *   <li>A {@link SimpleKey} of several parameters is a key of as many parts, like {@code keys = {"#a", "#b"}}.
 *   <li>A {@code SimpleKey} of one parameter or none has a mark, so that it differs from the plain parameter.
 *   <li>Any other key is a key of one part.
 * </ul>
 */
final class SpringKeys {

    private static final @Nullable Field PARAMETERS = parameters();

    private SpringKeys() {}

    /** Parts that no application can pass. */
    private enum Mark {
        NO_PARAMETER,
        ONE_PARAMETER,
        NULL
    }

    /** @throws InvalidCacheKeyException if the key is null, or has no text of its own */
    static <V> CacheKey<V> of(CacheSpec<V> spec, @Nullable Object key) {
        if (key == null || key.getClass() != SimpleKey.class) {
            return spec.key(key);
        }
        @Nullable Object[] parameters = parametersOf(key, spec);
        return switch (parameters.length) {
            case 0 -> spec.key((Object) Mark.NO_PARAMETER);
            case 1 -> spec.key(Mark.ONE_PARAMETER, part(parameters[0]));
            default ->
                spec.keyOf(Arrays.stream(parameters).map(SpringKeys::part).toList());
        };
    }

    private static Object part(@Nullable Object parameter) {
        return parameter == null ? Mark.NULL : parameter;
    }

    private static @Nullable Object[] parametersOf(Object key, CacheSpec<?> spec) {
        try {
            if (PARAMETERS != null) {
                return (@Nullable Object[]) PARAMETERS.get(key);
            }
        } catch (IllegalAccessException impossible) {
            throw new IllegalStateException(impossible);
        }
        throw new InvalidCacheKeyException("The parameters of a SimpleKey of '" + spec.prefix()
                + "' cannot be read. Set the key attribute of the annotation, for example key = \"{#a, #b}\".");
    }

    /** The class has no accessor for them. */
    private static @Nullable Field parameters() {
        try {
            Field field = SimpleKey.class.getDeclaredField("params");
            return field.trySetAccessible() ? field : null;
        } catch (NoSuchFieldException renamed) {
            return null;
        }
    }
}
