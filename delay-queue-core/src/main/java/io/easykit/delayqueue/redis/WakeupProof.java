package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.store.Subscription;
import io.easykit.delayqueue.support.LogText;
import io.easykit.redis.RedisReply;
import io.easykit.redis.SubscriptionRefusal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.UUID;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.data.redis.connection.Message;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Proves that no wakeup was lost. It publishes a number on a channel of its own, over the connection on which messages are claimed,
 * and receives it over the connection of the subscriptions. A server sends what is published to a subscriber in order, so each
 * wakeup that was published before that number has been received as well. If one of the two connections leads to a server that no
 * longer serves, the number does not arrive.
 *
 * <p>If a number is missing when a later one arrives, wakeups may be lost as well, although the connection was not: a proxy or a
 * replica in between may have changed its server.
 *
 * <p>There is no proof in a cluster: its masters pass wakeups on to the server of the subscriptions, over a connection for each of them,
 * and each publication goes to all servers.
 */
final class WakeupProof implements MessageListener {

    private static final Logger log = LoggerFactory.getLogger(WakeupProof.class);

    /** Less than the interval at which consumers claim without a proof, so that each proof comes in time for the next. */
    static final long INTERVAL_MILLIS = 800;

    private final RedisConnectionFactory connections;
    private final String channel;
    private final String wakeups;
    private final LongSupplier nanos;
    private final Runnable onGap;

    private boolean refused;

    /** The number that arrived last over this connection; null if there is none. */
    private volatile @Nullable Long arrived;

    private volatile @Nullable Sent last;
    private volatile @Nullable Long provenAt;

    /** Time of the first number since the last one that arrived; null if there is none. */
    private volatile @Nullable Long missingSince;

    /**
     * @param nanos a clock that only moves forward
     * @param onGap runs when a number arrives and the one before it has not; must not wait
     */
    WakeupProof(RedisConnectionFactory connections, RedisKeys keys, LongSupplier nanos, Runnable onGap) {
        this.connections = connections;
        this.channel = keys.echo(UUID.randomUUID().toString());
        this.wakeups = keys.allWakeups();
        this.nanos = nanos;
        this.onGap = onGap;
    }

    /** @param at a moment before the number was published */
    private record Sent(long number, long at) {}

    String channel() {
        return channel;
    }

    /** The subscription begins on another connection. */
    void begin() {
        missingSince = null;
        arrived = null;
    }

    /** Whether Redis has accepted numbers for so long, and none has arrived. */
    boolean isMissing(Duration time) {
        Long since = missingSince;
        return since != null && nanos.getAsLong() - since >= time.toNanos();
    }

    /** Publishes the next number. It proves something when it arrives. */
    void send() {
        try (RedisConnection connection = connections.getConnection()) {
            if (connection instanceof RedisClusterConnection) {
                return;
            }
            Sent before = last;
            Sent next = new Sent(before == null ? 0 : before.number + 1, nanos.getAsLong());
            last = next;
            connection.publish(RedisKeys.bytes(channel), RedisKeys.bytes(Long.toString(next.number)));
            refused = false;
            if (missingSince == null) {
                missingSince = next.at;
            }
        } catch (RuntimeException e) {
            missingSince = null;
            warnIfRefused(e);
            log.debug("Nothing proves at the moment that wakeups arrive", RedisReply.safe(e));
        }
    }

    /** Once. The scripts that publish wakeups must not fail for it, and are refused as well. */
    private void warnIfRefused(RuntimeException failure) {
        SubscriptionRefusal refusal = SubscriptionRefusal.of(failure, wakeups);
        if (refusal != null && !refused) {
            refused = true;
            log.warn(
                    "Messages that are due earlier than those before them may be up to 10 s late, because Redis refuses to"
                            + " publish wakeups: {}",
                    LogText.of(refusal.text()));
        }
    }

    @Override
    public void onMessage(Message message, byte @Nullable [] pattern) {
        missingSince = null;
        String text = new String(message.getBody(), StandardCharsets.US_ASCII);
        if (!WakeupSubscriber.NUMBER.matcher(text).matches()) {
            return;
        }
        long number = Long.parseLong(text);
        Long before = arrived;
        arrived = number;
        if (before != null && number > before + 1) {
            onGap.run();
        }
        Sent sent = last;
        if (sent != null && number == sent.number) {
            provenAt = sent.at;
        }
    }

    /** As {@link Subscription#sinceProof}. */
    Duration age() {
        Long at = provenAt;
        return at == null ? Subscription.UNPROVEN : Duration.ofNanos(nanos.getAsLong() - at);
    }
}
