package io.easykit.console;

/**
 * The user of a request.
 *
 * @param name       name, or {@code anonymous} without a login
 * @param from       address of the peer
 * @param operates   whether the user is an operator
 * @param changes    whether the user may change things: an operator, unless the console is read-only
 * @param seesValues whether bodies and header values are shown
 */
public record Caller(String name, String from, boolean operates, boolean changes, boolean seesValues) {

    /** The user of a request that is refused. */
    static Caller stranger(ConsoleRequest request) {
        return new Caller(nameOf(request), request.remoteAddress(), false, false, false);
    }

    static String nameOf(ConsoleRequest request) {
        String user = request.user();
        return user == null ? "anonymous" : user;
    }

    /** Whether the user may search messages for a text. This takes a job, which is a change, and its result reveals values. */
    public boolean searches() {
        return changes && seesValues;
    }

    /** Whether the user may save whole bodies, which are not masked. */
    public boolean savesBodies() {
        return operates && seesValues;
    }
}
