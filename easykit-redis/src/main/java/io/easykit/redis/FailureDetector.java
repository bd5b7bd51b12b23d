package io.easykit.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.cluster.RedisClusterClient;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides from replies and failures when to leave a server: drops the connection or, in a cluster, refreshes the topology.
 * {@link LettuceConnector} describes the rules.
 */
final class FailureDetector {

    /** Longer than a pause of a garbage collector or a fork. Sentinel and Cluster take longer to promote. */
    static final Duration SILENCE = Duration.ofSeconds(2);

    /** Silence after which the topology of a cluster is refreshed. A refresh costs no connection ({@link ClusterClient}). */
    static final Duration SILENCE_BEFORE_REFRESH = Duration.ofSeconds(1);

    static final Duration SILENCE_OF_SERVER = Duration.ofSeconds(6);

    static final Duration DISCONNECTED = Duration.ofMillis(500);

    /** Minimum time between two replacements, or two refreshes. */
    private static final Duration LEAST_PAUSE = Duration.ofSeconds(1);

    /** A standstill may need many replacements. */
    private static final Duration LOG_PAUSE = Duration.ofMinutes(1);

    private static final Logger log = LoggerFactory.getLogger(FailureDetector.class);

    private final SharedConnection connection;
    private final ClusterTopology topology;
    private final Transfers transfers;
    private final Duration commandTimeout;
    private final Duration silenceOfServer;
    private final Map<String, ReplyWatch> watches = new ConcurrentHashMap<>();
    private final AtomicLong lastReplacement = new AtomicLong(System.nanoTime() - LEAST_PAUSE.toNanos());
    private final AtomicLong lastRefresh = new AtomicLong(System.nanoTime() - LEAST_PAUSE.toNanos());
    private final AtomicLong lastLogged = new AtomicLong(System.nanoTime() - LOG_PAUSE.toNanos());

    /** @param silenceOfServer silence of a server of a Redis Cluster after which the connections to it are replaced */
    FailureDetector(
            SharedConnection connection,
            ClusterTopology topology,
            Transfers transfers,
            Duration commandTimeout,
            Duration silenceOfServer) {
        this.connection = connection;
        this.topology = topology;
        this.transfers = transfers;
        this.commandTimeout = commandTimeout;
        this.silenceOfServer = silenceOfServer;
    }

    /** The watch of the server of a key. */
    ReplyWatch watchOf(byte[] key) {
        return watches.computeIfAbsent(topology.serverOf(key), ReplyWatch::new);
    }

    /**
     * Records a failure.
     *
     * @param sent time at which the command was sent, from {@link System#nanoTime}
     * @param thrown the failure, or a composed stage's exception with the failure as its cause
     */
    void failed(ReplyWatch watch, long sent, Throwable thrown) {
        Throwable failure = CallFailures.unwrapped(thrown);
        if (failure instanceof RedisCommandExecutionException) {
            watch.answered();
            ErrorReply error = ErrorReply.of(failure);
            if (error != null && (error.isMendedByAnotherServer() || isCutOff(error))) {
                leave(watch, "its server replies " + error.code(), Duration.ZERO);
            }
            return;
        }
        boolean silent = failure instanceof RedisCommandTimeoutException;
        if (silent && transfers.explain(commandTimeout)) {
            watch.answered();
            return;
        }
        Duration unanswered = watch.unanswered(sent);
        if (unanswered.compareTo(silent ? silence() : DISCONNECTED) >= 0) {
            // Lettuce makes a lost connection again by itself.
            leave(watch, silent ? "its server does not reply" : "it is lost", silent ? unanswered : Duration.ZERO);
        }
    }

    /** A server that the other masters may have replaced by another one, because they do not reach it. */
    private boolean isCutOff(ErrorReply error) {
        return error.is("CLUSTERDOWN") && topology.client() != null;
    }

    /** Records that the sentinels name another master than that of the connection. */
    void otherMaster() {
        replace("the sentinels name another master");
    }

    /** Drops the connection. */
    void replaceConnection() {
        if (connection.drop()) {
            watches.clear();
        }
    }

    private void leave(ReplyWatch watch, String reason, Duration silence) {
        RedisClusterClient cluster = topology.client();
        if (cluster == null) {
            replace(reason);
            return;
        }
        if (isDue(lastRefresh, LEAST_PAUSE)) {
            log.debug("Refreshing the topology of the Redis cluster, because of a connection: {}", reason);
            topology.refresh(cluster);
        }
        if (silence.compareTo(silenceOfServer) >= 0 && isDue(lastReplacement, LEAST_PAUSE)) {
            watches.remove(watch.server());
            if (topology.reconnect(cluster, watch.server())) {
                logReplacement(reason);
            } else {
                replaceNow(reason);
            }
        }
    }

    private void replace(String reason) {
        if (isDue(lastReplacement, LEAST_PAUSE)) {
            replaceNow(reason);
        }
    }

    private void replaceNow(String reason) {
        logReplacement(reason);
        replaceConnection();
        connection.want(System.nanoTime());
        var unused = connection.get();
    }

    private void logReplacement(String reason) {
        if (isDue(lastLogged, LOG_PAUSE)) {
            log.info(
                    "Replacing the connection to Redis, because {}. Commands in flight fail; later ones use"
                            + " the new connection. Logged once a minute.",
                    reason);
        } else {
            log.debug("Replacing the connection to Redis again, because {}", reason);
        }
    }

    private Duration silence() {
        return topology.client() == null ? SILENCE : SILENCE_BEFORE_REFRESH;
    }

    private static boolean isDue(AtomicLong last, Duration pause) {
        long before = last.get();
        long now = System.nanoTime();
        return now - before >= pause.toNanos() && last.compareAndSet(before, now);
    }
}
