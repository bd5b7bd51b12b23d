package io.easykit.trial;

import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.util.List;

/** Redis servers in a common topology, and their faults. */
interface Topology extends AutoCloseable {

    /** Settings of the application, each as {@code --name=value}. */
    List<String> settings();

    /** Returns the number of parts of the key space that fail independently. */
    int shares();

    /** Returns the part of this key, from 0. */
    int shareOf(String key);

    void awaitHealthy();

    /**
     * Causes the fault in one share, and returns when another server has replaced the failed one.
     *
     * @param movingKey a key in the slot that {@link Fault#SLOT_MOVES} moves
     */
    Outage strike(Fault fault, int share, String movingKey);

    /**
     * Returns the nano time of the last promotion, or {@link Outage#NEVER} if the topology does not record it. A second
     * promotion in a round loses writes that the first promoted server has acknowledged.
     */
    default long lastPromotionAt() {
        return Outage.NEVER;
    }

    /** Runs a command on each running server with data. */
    void onEachServer(String... command);

    static void onRunning(List<RedisServer> servers, String... command) {
        servers.stream().filter(RedisServer::isRunning).forEach(server -> {
            try (RawRedis redis = server.connect()) {
                redis.command(command);
            }
        });
    }

    String version();

    @Override
    void close();
}
