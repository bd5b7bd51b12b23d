package io.easykit.redis;

/**
 * Removes command arguments from error replies of Redis before they are logged. For an unknown command Redis quotes the
 * arguments ("with args beginning with"); they may be a password or a payload.
 */
public final class RedisReply {

    private static final String ARGUMENTS = "with args";
    private static final int MOST_CAUSES = 20;

    private RedisReply() {}

    /** Returns the reply up to the quoted arguments. */
    public static String withoutArguments(String message) {
        int at = message.indexOf(ARGUMENTS);
        return at < 0 ? message : message.substring(0, at).stripTrailing().replaceFirst(",$", "");
    }

    /** Returns the exception itself, or a copy without the arguments if one of its causes quotes them. */
    public static Throwable safe(Throwable e) {
        Throwable quoting = e;
        for (int i = 0; quoting != null && i < MOST_CAUSES; i++, quoting = quoting.getCause()) {
            String message = quoting.getMessage();
            if (message != null && message.contains(ARGUMENTS)) {
                return new Shortened(quoting.getClass().getName() + ": " + withoutArguments(message), e);
            }
        }
        return e;
    }

    /** Stands for an exception that quotes arguments. */
    private static final class Shortened extends RuntimeException {

        private static final long serialVersionUID = 1L;

        Shortened(String message, Throwable original) {
            super(message, null, false, true);
            setStackTrace(original.getStackTrace());
        }
    }
}
