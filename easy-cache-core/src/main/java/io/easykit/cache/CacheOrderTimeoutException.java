package io.easykit.cache;

/**
 * A call of a serial cache did not get its turn: its wait ended, too many calls waited already, or its thread was
 * interrupted. The call has not run: nothing was read or changed, and it may be repeated.
 */
public final class CacheOrderTimeoutException extends EasyCacheException {

    private static final long serialVersionUID = 1L;

    private CacheOrderTimeoutException(String message) {
        super(message, null);
    }

    /**
     * The wait for the turn has ended.
     *
     * @param ahead number of calls that were to run before it
     */
    public static CacheOrderTimeoutException waitEnded(CacheKey<?> key, SerialOptions options, int ahead) {
        return new CacheOrderTimeoutException("The call of " + key + " did not get its turn within serial-wait ("
                + CacheOptions.text(options.maxWait()) + "): " + ahead
                + " of this JVM were ahead of it. It has not run."
                + " Look for slow methods of this key, and give their queries a timeout. If they are slow by nature,"
                + " raise 'serial-wait'.");
    }

    /** Too many calls wait already. */
    public static CacheOrderTimeoutException queueFull(CacheKey<?> key, SerialOptions options) {
        return new CacheOrderTimeoutException("The call of " + key + " is refused: " + options.maxQueue()
                + " calls wait for this key already (serial-queue). It has not run. Repeat it later, or let fewer"
                + " threads use one key. If bursts are normal, raise 'serial-queue'.");
    }

    /** The thread was interrupted while it waited; its interrupt flag is set. */
    public static CacheOrderTimeoutException interrupted(CacheKey<?> key) {
        return new CacheOrderTimeoutException("The thread was interrupted while its call of " + key
                + " waited for its turn. It has not run. Repeat it on a thread that is not interrupted.");
    }
}
