package io.easykit.test;

import java.util.List;

/** States of a server that answers reads and refuses writes, one for each reason. */
@SuppressWarnings("ImmutableEnumChecker") // the lists are those of List.of
public enum RefusedWrites {
    REPLICA("READONLY", "promote", List.of(List.of("REPLICAOF", "127.0.0.1", "1")), List.of("REPLICAOF", "NO", "ONE")),
    TOO_FEW_REPLICAS(
            "NOREPLICAS",
            "min-replicas-to-write",
            List.of(List.of("CONFIG", "SET", "min-replicas-to-write", "1")),
            List.of("CONFIG", "SET", "min-replicas-to-write", "0")),
    FULL(
            "memory",
            "maxmemory",
            List.of(List.of("CONFIG", "SET", "maxmemory", "1")),
            List.of("CONFIG", "SET", "maxmemory", "0")),
    UNSAVED(
            "MISCONF",
            "disk",
            List.of(
                    List.of("CONFIG", "SET", "dir", "/proc"),
                    List.of("CONFIG", "SET", "save", "3600 1"),
                    List.of("BGSAVE")),
            List.of("CONFIG", "SET", "stop-writes-on-bgsave-error", "no"));

    private final String reason;
    private final String remedy;
    private final List<List<String>> spoil;
    private final List<String> mend;

    RefusedWrites(String reason, String remedy, List<List<String>> spoil, List<String> mend) {
        this.reason = reason;
        this.remedy = remedy;
        this.spoil = spoil;
        this.mend = mend;
    }

    /** A server of its own. From Redis 7 on, the folder can only be changed with this argument. */
    public static RedisServer start() {
        RedisServer server = RedisServer.start();
        if (server.version().startsWith("6.")) {
            return server;
        }
        server.close();
        return RedisServer.start("--enable-protected-configs", "yes");
    }

    /** Whether a text names the reason and the remedy. */
    public boolean isNamedIn(String text) {
        return text.contains(reason) && text.contains(remedy);
    }

    /**
     * Puts a server into this state.
     *
     * @param redis a connection to a server of {@link #start()}
     */
    public void spoil(RawRedis redis) {
        spoil.forEach(command -> redis.command(command.toArray(String[]::new)));
    }

    /** Makes the server take writes again. */
    public void mend(RawRedis redis) {
        redis.command(mend.toArray(String[]::new));
    }
}
