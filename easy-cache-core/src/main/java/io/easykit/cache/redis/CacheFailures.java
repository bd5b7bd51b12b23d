package io.easykit.cache.redis;

import io.easykit.cache.store.StoreUnavailableException;
import io.easykit.redis.CallFailures;
import io.easykit.redis.ErrorReply;
import io.easykit.redis.RedisReply;
import io.easykit.redis.Remedy;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NestedExceptionUtils;

/**
 * Makes the cache's exceptions of failed calls: is it the server's failure, or the command's. The cache goes on without a
 * server that fails, so unlike the queue it does not distinguish why, and it counts a full server and a refused connection as
 * failures of the server.
 */
final class CacheFailures {

    /** Reply to each connection from another host while Redis has no password. */
    private static final String PROTECTED_MODE = "DENIED";

    private CacheFailures() {}

    static boolean isWrongType(Throwable failure) {
        ErrorReply error = ErrorReply.of(failure);
        return error != null && error.isWrongType();
    }

    /** Whether the server has no room for more. It answers readers, and takes invalidations. */
    static boolean isFull(Throwable failure) {
        ErrorReply error = ErrorReply.of(failure);
        return error != null && error.isOutOfMemory();
    }

    /** A timeout that the transfer of large values explains. */
    static StoreUnavailableException delayed(Throwable timeout) {
        return StoreUnavailableException.delayed(
                "Redis did not answer in time, while large values (16 KB or more) were on their way", timeout);
    }

    static StoreUnavailableException translate(Throwable failure) {
        ErrorReply error = ErrorReply.of(failure);
        Throwable cause = RedisReply.safe(failure);
        if (error == null || CallFailures.isRefusedConnection(failure)) {
            return StoreUnavailableException.unanswered(describe(failure, error), cause);
        }
        if (error.is("NOAUTH")) {
            return StoreUnavailableException.refused("Redis refuses every command: " + describe(failure, error), cause);
        }
        String refused = RefusedCommand.of(error);
        return refused != null
                ? StoreUnavailableException.refused(describeRefusal(refused, error.reply()), cause)
                : new StoreUnavailableException(describe(failure, error), isServerFailure(error), cause);
    }

    private static boolean isServerFailure(ErrorReply error) {
        return error.isServerState() || error.isOutOfMemory() || error.is(PROTECTED_MODE);
    }

    private static String describe(Throwable failure, @Nullable ErrorReply error) {
        if (CallFailures.isTimeout(failure)) {
            return "Redis did not answer in time";
        }
        return error != null
                ? "Redis answered: " + error.reply() + Remedy.of(error)
                : "Redis cannot be reached: " + NestedExceptionUtils.getMostSpecificCause(failure);
    }

    private static String describeRefusal(String command, String reply) {
        return "Redis refuses " + command + " to this client (" + reply + "). Without it nothing can be cached safely."
                + " Allow it to the user of this connection, for example with ACL SETUSER <user> +"
                + command.toLowerCase(Locale.ROOT) + ", or correct the password";
    }
}
