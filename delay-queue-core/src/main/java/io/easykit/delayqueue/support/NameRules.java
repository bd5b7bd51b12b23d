package io.easykit.delayqueue.support;

import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Rules for the names that applications choose: topics, message ids and headers. */
public final class NameRules {

    /** Maximum length in bytes of an id that a sender chooses. */
    public static final int MAX_OWN_ID_BYTES = 256;

    /** Maximum length in bytes of an ordering key. */
    public static final int MAX_ORDERING_KEY_BYTES = 128;

    private static final int MAX_ID_LENGTH = 512;

    /** Start of the ids of messages with an ordering key; no other id begins with it. */
    private static final String ORDERED = "~~";

    private static final Pattern TOPIC = Pattern.compile("[A-Za-z0-9._:/-]{1,128}");

    private NameRules() {}

    /**
     * Returns the topic if it has 1 to 128 letters, digits, or characters of {@code . _ : / -}.
     *
     * @throws IllegalArgumentException if it has not
     */
    public static String requireTopic(String topic) {
        Objects.requireNonNull(topic, "A topic that is null: give the topic that the listener names.");
        if (!TOPIC.matcher(topic).matches()) {
            throw new IllegalArgumentException("Topic '" + LogText.of(topic)
                    + "' is not usable: give it 1 to 128 letters, digits, or characters of \". _ : / -\".");
        }
        return topic;
    }

    /**
     * Returns the id if a sender may choose it.
     *
     * @throws IllegalArgumentException if it is blank, too long, or has the form of a generated id
     */
    public static String requireOwnId(String id) {
        int length = requireWellFormed(id).getBytes(StandardCharsets.UTF_8).length;
        if (id.isBlank() || length > MAX_OWN_ID_BYTES || id.startsWith("~")) {
            throw new IllegalArgumentException(
                    "Message id '" + LogText.of(id) + "' is not usable: give it 1 to " + MAX_OWN_ID_BYTES
                            + " bytes that are not blank, and no '~' at the start, which generated ids have.");
        }
        return id;
    }

    /**
     * Returns the ordering key if a sender may choose it.
     *
     * @throws IllegalArgumentException if it is blank, too long, or has a {@code ~}
     */
    public static String requireOrderingKey(String key) {
        Objects.requireNonNull(key, "An ordering key that is null: give a key, or leave it out.");
        int length = key.getBytes(StandardCharsets.UTF_8).length;
        if (key.isBlank() || length > MAX_ORDERING_KEY_BYTES || key.indexOf('~') >= 0 || !isWellFormed(key)) {
            throw new IllegalArgumentException("Ordering key '" + LogText.of(key) + "' is not usable: give it 1 to "
                    + MAX_ORDERING_KEY_BYTES + " bytes that are not blank, in whole characters, and no '~'.");
        }
        return key;
    }

    /**
     * The id under which a message with an ordering key is stored. Give this id to {@code cancel} and {@code reschedule}.
     *
     * @param ownId the id that its sender chose
     */
    public static String orderedId(String key, String ownId) {
        return ORDERED + requireOrderingKey(key) + "~" + ownId;
    }

    /** The ordering key of the message with this id, or null if it has none. */
    public static @Nullable String orderingKey(String id) {
        int end = id.startsWith(ORDERED) ? id.indexOf('~', ORDERED.length()) : -1;
        return end > ORDERED.length() ? id.substring(ORDERED.length(), end) : null;
    }

    /**
     * Returns the id if a store can keep it, whether a sender chose it or it was generated.
     *
     * @throws IllegalArgumentException if it has not 1 to 512 characters
     */
    public static String requireId(String id) {
        if (id.isEmpty() || id.length() > MAX_ID_LENGTH) {
            throw new IllegalArgumentException("An id has 1 to " + MAX_ID_LENGTH + " characters.");
        }
        return id;
    }

    /**
     * Returns the id if UTF-8 can hold it. Two ids with unpaired surrogates would become the same one.
     *
     * @throws IllegalArgumentException if it has an unpaired surrogate
     */
    public static String requireWellFormed(String id) {
        Objects.requireNonNull(id, "A message id that is null: give the id that the message was sent with.");
        if (!isWellFormed(id)) {
            throw new IllegalArgumentException("Message id '" + LogText.of(id)
                    + "' has an unpaired surrogate, which UTF-8 cannot hold: give it whole characters.");
        }
        return id;
    }

    /** Whether each surrogate has its pair. */
    public static boolean isWellFormed(String text) {
        for (int at = 0; at < text.length(); at++) {
            if (Character.isSurrogate(text.charAt(at))) {
                boolean pairs = Character.isHighSurrogate(text.charAt(at))
                        && at + 1 < text.length()
                        && Character.isLowSurrogate(text.charAt(at + 1));
                if (!pairs) {
                    return false;
                }
                at++;
            }
        }
        return true;
    }

    /**
     * Checks a header of a message.
     *
     * @throws IllegalArgumentException if its name or value is missing, or cannot be written as UTF-8
     */
    public static void requireHeader(String topic, @Nullable String name, @Nullable String value) {
        if (name == null || value == null) {
            throw new IllegalArgumentException("Header '" + (name == null ? null : LogText.of(name))
                    + "' of a message to topic '" + LogText.of(topic) + "' has "
                    + (value == null ? "the value null" : "no name")
                    + ": give it a name and a value, or leave it out.");
        }
        if (!isWellFormed(name) || !isWellFormed(value)) {
            throw new IllegalArgumentException(
                    "Header '" + LogText.of(name) + "' of a message to topic '" + LogText.of(topic)
                            + "' has an unpaired surrogate in its name or value, which UTF-8 cannot hold: give it"
                            + " whole characters.");
        }
    }
}
