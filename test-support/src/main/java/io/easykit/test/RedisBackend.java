package io.easykit.test;

import java.util.List;
import java.util.Map;

/** A way to run Redis servers: as processes of this machine, or as containers. */
interface RedisBackend {
    /**
     * Prepares a server on a port of its own; {@link Instance#start()} starts it.
     *
     * @param arguments options of redis-server that go beyond the defaults
     */
    Instance prepare(List<String> arguments);

    /**
     * Prepares a sentinel, with an empty configuration file of its own, on a port of its own.
     *
     * @param arguments options of redis-server
     */
    Instance prepareSentinel(List<String> arguments);

    /** One server; its port and its data directory stay the same over restarts. */
    interface Instance {
        String host();

        int port();

        /** Starts the program; that it answers is for the caller to wait for. */
        void start();

        void kill();

        void pause();

        void resume();

        boolean isRunning();

        /** Whether the server that answers on the port, and gave this {@code INFO server}, is this one. */
        boolean owns(Map<String, String> serverInfo);

        /** What the program has printed since its last start. */
        String log();

        /** Kills the server and deletes its data. */
        void close();
    }
}
