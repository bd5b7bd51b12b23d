package io.easykit.console;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A request, whichever web framework received it.
 *
 * @param method        such as {@code GET}
 * @param path          behind the console's path: empty, or beginning with a slash
 * @param query         decoded parameters
 * @param headers       returns all values of a header
 * @param remoteAddress address of the peer, or empty if it is unknown
 * @param user          name of the user, or null without a login
 * @param hasRole       whether the user has a role
 * @param csrf          token of Spring Security, or null if it has none
 * @param body          reads the body
 */
public record ConsoleRequest(
        String method,
        String path,
        Map<String, List<String>> query,
        Function<String, List<String>> headers,
        String remoteAddress,
        @Nullable String user,
        Predicate<String> hasRole,
        Supplier<@Nullable CsrfToken> csrf,
        Body body) {

    /**
     * A token against forged requests.
     *
     * @param header name of the header that carries it
     */
    public record CsrfToken(String header, String token) {}

    /** Reads a request body. */
    public interface Body {

        /**
         * Returns the body, or the beginning of one that is longer.
         *
         * @param most bytes to read
         */
        byte[] read(int most) throws IOException;
    }

    /** The first value of a header, or null. */
    public @Nullable String header(String name) {
        List<String> values = headers.apply(name);
        return values.isEmpty() ? null : values.get(0);
    }

    /** The first value of a parameter, or null. */
    public @Nullable String parameter(String name) {
        List<String> values = query.get(name);
        return values == null || values.isEmpty() ? null : values.get(0);
    }

    /** The value of a parameter that has to be there. */
    public String required(String name) {
        String value = parameter(name);
        if (value == null || value.isEmpty()) {
            throw new Refusal(400, "The parameter " + name + " is missing.", "Load the page again.");
        }
        return value;
    }

    /** One of two words: the usual one if the parameter is missing. */
    public String word(String name, String usual, String other) {
        String value = parameter(name);
        if (value == null || value.isEmpty() || value.equals(usual)) {
            return usual;
        }
        if (value.equals(other)) {
            return other;
        }
        throw new Refusal(
                400,
                "The parameter " + name + " is not possible.",
                "Use " + usual + ", the default, or " + other + ".");
    }

    /**
     * The value of a whole number that may be missing.
     *
     * @param otherwise if it is missing
     */
    public int number(String name, int otherwise, int least, int most) {
        String value = parameter(name);
        if (value == null || value.isEmpty()) {
            return otherwise;
        }
        if (value.matches("\\d{1,9}") && Integer.parseInt(value) >= least && Integer.parseInt(value) <= most) {
            return Integer.parseInt(value);
        }
        throw new Refusal(
                400,
                "The parameter " + name + " is not possible.",
                "Give a whole number from " + least + " to " + most + ".");
    }
}
