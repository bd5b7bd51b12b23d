package io.easykit.trial;

import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.util.List;

/** Redis servers in the shape that a team runs them in, and their faults. */
interface Topology extends AutoCloseable {

    /** Settings of the application, each as {@code --name=value}. */
    List<String> settings();

    /** In how many parts the keys lie that fail independently. */
    int shares();

    /** The part of this key, from 0. */
    int shareOf(String key);

    void awaitHealthy();

    /**
     * Does the fault to one share, and returns when another server serves in place of the failed one.
     *
     * @param movingKey a key in the slot that {@link Fault#SLOT_MOVES} moves
     */
    Outage strike(Fault fault, int share, String movingKey);

    /** Runs a command on each server that holds data and runs. */
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
