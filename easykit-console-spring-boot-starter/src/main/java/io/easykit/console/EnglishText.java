package io.easykit.console;

import org.jspecify.annotations.Nullable;

/** A text of a reply for people. The reply has it in the language of the page, if there is a translation. */
public record EnglishText(String english) {

    public static @Nullable EnglishText of(@Nullable String english) {
        return english == null ? null : new EnglishText(english);
    }
}
