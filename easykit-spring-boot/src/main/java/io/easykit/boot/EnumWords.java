package io.easykit.boot;

import java.util.Locale;

/** Constants as replies name them: in lower case, with dashes. */
public final class EnumWords {

    private EnumWords() {}

    /** The word for a constant, such as {@code in-flight} for {@code IN_FLIGHT}. */
    public static String of(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
