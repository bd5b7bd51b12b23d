package io.easykit.boot;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Constants as replies name them: in lower case, with dashes. */
public final class EnumWords {

    private EnumWords() {}

    /** The word for a constant, such as {@code in-flight} for {@code IN_FLIGHT}. */
    public static String of(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The constant with this word, or null if there is none. */
    public static <E extends Enum<E>> @Nullable E find(Class<E> type, String word) {
        for (E constant : type.getEnumConstants()) {
            if (of(constant).equals(word)) {
                return constant;
            }
        }
        return null;
    }
}
