package io.easykit.redis;

import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Why the next attempt to subscribe will fail as well.
 *
 * @param text the reason, and what to do about it
 * @param isFinal whether no attempt of this process can succeed
 */
public record SubscriptionRefusal(String text, boolean isFinal) {

    /**
     * Reads a failure.
     *
     * @param channels those that the user of the connection needs
     * @return null if the failure may pass. A login that fails is one of them: it concerns more than subscriptions
     */
    public static @Nullable SubscriptionRefusal of(Throwable failure, String channels) {
        if (isUnsupported(failure)) {
            return new SubscriptionRefusal(
                    "Spring Data has no subscriptions for static master and replica nodes. Connect by Sentinel, a"
                            + " cluster or one address",
                    true);
        }
        ErrorReply error = ErrorReply.of(failure);
        if (error == null || error.isServerState() || error.isLogin() || CallFailures.isRefusedConnection(failure)) {
            return null;
        }
        return new SubscriptionRefusal(
                error.text() + ". Let its user subscribe to " + channels + ", and publish there", false);
    }

    private static boolean isUnsupported(Throwable failure) {
        return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
                .anyMatch(UnsupportedOperationException.class::isInstance);
    }
}
