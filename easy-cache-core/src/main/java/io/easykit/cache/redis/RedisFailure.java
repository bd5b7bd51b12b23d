package io.easykit.cache.redis;

import io.easykit.cache.store.StoreUnavailableException;
import io.easykit.redis.RedisReply;
import io.easykit.redis.Remedy;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisConnectionException;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.QueryTimeoutException;

/** Classifies a failed command: is it the server's failure, or the command's. */
final class RedisFailure {

    /** Error replies that speak of the server's state; other ones speak of one command or of its rights. */
    private static final List<String> SERVER_STATES = List.of(
            "LOADING",
            "READONLY",
            "CLUSTERDOWN",
            "MASTERDOWN",
            "TRYAGAIN",
            "BUSY",
            "NOREPLICAS",
            "MISCONF",
            "OOM",
            "MOVED",
            "DENIED");

    /** An error reply begins with a code. */
    private static final Pattern REPLY = Pattern.compile("[A-Z]{2,}\\b.*", Pattern.DOTALL);

    private RedisFailure() {}

    /** The server does not have the script: it was restarted, or its scripts were flushed. */
    static boolean isUnknownScript(Throwable failure) {
        return hasReply(failure, "NOSCRIPT");
    }

    /** The key holds something else than a hash. */
    static boolean isWrongType(Throwable failure) {
        return hasReply(failure, "WRONGTYPE");
    }

    /** The server has no room for more. It answers readers, and takes invalidations. */
    static boolean isFull(Throwable failure) {
        return hasReply(failure, "OOM ");
    }

    /** No reply came in time: the caller's patience, or the client's own timeout, was over. */
    static boolean isTimeout(Throwable failure) {
        return failure instanceof TimeoutException
                || failure instanceof RedisCommandTimeoutException
                || failure instanceof QueryTimeoutException;
    }

    /** A timeout that the transfer of large values explains. */
    static StoreUnavailableException delayed(Throwable timeout) {
        return StoreUnavailableException.delayed(
                "Redis did not answer in time, while large values (16 KB or more) were on their way", timeout);
    }

    static StoreUnavailableException translate(Throwable failure) {
        String reply = errorReply(failure);
        Throwable cause = RedisReply.safe(failure);
        if (reply != null && !isRefusedConnection(failure)) {
            String refused = RefusedCommand.of(reply);
            if (refused != null) {
                return StoreUnavailableException.refused(
                        describeRefusal(refused, RedisReply.withoutArguments(reply)), cause);
            }
        }
        boolean serverFailure = reply == null || isRefusedConnection(failure) || speaksOfServer(reply);
        return new StoreUnavailableException(describe(failure, reply), serverFailure, cause);
    }

    /** Redis 6.2 puts the error of a command in a script behind a text of its own and a dash. */
    private static boolean speaksOfServer(String reply) {
        return SERVER_STATES.stream().anyMatch(state -> reply.startsWith(state) || reply.contains("-" + state + " "));
    }

    /** An error reply during the handshake affects every command: too many clients, a wrong password. */
    private static boolean isRefusedConnection(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof RedisConnectionException) {
                return true;
            }
        }
        return false;
    }

    private static String describe(Throwable failure, @Nullable String reply) {
        if (isTimeout(failure)) {
            return "Redis did not answer in time";
        }
        return reply != null
                ? "Redis answered: " + RedisReply.withoutArguments(reply) + Remedy.of(reply)
                : "Redis cannot be reached: " + root(failure);
    }

    private static String describeRefusal(String command, String reply) {
        return "Redis refuses " + command + " to this client (" + reply + "). Without it nothing can be cached safely."
                + " Allow it to the user of this connection, for example with ACL SETUSER <user> +"
                + command.toLowerCase(Locale.ROOT) + ", or correct the password";
    }

    private static Throwable root(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root;
    }

    private static boolean hasReply(Throwable failure, String prefix) {
        String reply = errorReply(failure);
        return reply != null && reply.contains(prefix);
    }

    /** The server's error reply; null if there is none, because no reply came. */
    private static @Nullable String errorReply(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof RedisCommandExecutionException || isOtherClientsReply(cause)) {
                return cause.getMessage();
            }
        }
        return null;
    }

    /**
     * Clients other than Lettuce are known by Spring Data's translation only, with the reply in the message. Jedis gets the same
     * translation when its pool is exhausted, with a message of its own.
     */
    private static boolean isOtherClientsReply(Throwable cause) {
        return cause.getCause() != null
                && REPLY.matcher(String.valueOf(cause.getMessage())).matches()
                && cause instanceof DataAccessException
                && cause.getClass().getSimpleName().equals("InvalidDataAccessApiUsageException");
    }
}
