package io.easykit.redis;

import java.util.regex.Pattern;

/**
 * The start of all keys of a product. Applications with different ones can share one Redis. Braces are refused, because they would
 * change the hash tags of Redis Cluster; so are the pattern characters of ACL rules.
 */
public final class KeyPrefix {

    private static final Pattern USABLE = Pattern.compile("[A-Za-z0-9._:/-]{1,64}");

    private KeyPrefix() {}

    /** Whether a text has 1 to 64 characters, all of them letters, digits or {@code . _ : / -}. */
    public static boolean isUsable(String text) {
        return USABLE.matcher(text).matches();
    }

    /**
     * Refuses a text that no key may start with.
     *
     * @param example a usable one, for the exception
     * @throws IllegalArgumentException if it is not usable
     */
    public static void require(String text, String example) {
        if (!isUsable(text)) {
            throw new IllegalArgumentException("The key prefix '" + text + "' cannot be used."
                    + " Use 1 to 64 letters, digits, and characters of \". _ : / -\", for example '" + example + "'.");
        }
    }
}
