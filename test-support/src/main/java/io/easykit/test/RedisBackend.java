package io.easykit.test;

import java.util.List;
import java.util.Map;

/** Runs Redis servers as processes of this machine or as containers. */
interface RedisBackend {
    /**
     * Prepares a server on a separate port. {@link Instance#start()} starts it.
     *
     * @param arguments further options of redis-server
     */
    Instance prepare(List<String> arguments);

    /**
     * Prepares a sentinel with an empty configuration file on a separate port.
     *
     * @param arguments options of redis-server
     */
    Instance prepareSentinel(List<String> arguments);

    /** A server. Its port and its data directory stay the same over restarts. */
    interface Instance {
        String host();

        int port();

        /** Starts the program. The caller waits until the server replies. */
        void start();

        void kill();

        void pause();

        void resume();

        boolean isRunning();

        /** Whether the server with this {@code INFO server} reply is this one. */
        boolean owns(Map<String, String> serverInfo);

        /** Returns the output of the program since its last start. */
        String log();

        /** Kills the server and deletes its data. */
        void close();
    }
}
