package io.easykit.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A master with replicas and three sentinels: real servers owned by a test, which may kill, pause and restart them
 * separately. The sentinels replace a master that does not reply for a second.
 */
public final class RedisSentinels implements AutoCloseable {
    /** Name of the master in the sentinels. */
    public static final String MASTER_NAME = "easykit";

    /** Time without a reply after which the sentinels replace a master. */
    public static final Duration DOWN_AFTER = Duration.ofSeconds(1);

    private static final int SENTINELS = 3;
    private static final String QUORUM = "2";
    private static final Duration READY_WITHIN = Duration.ofSeconds(60);

    private static final Duration ASK_AGAIN = Duration.ofSeconds(3);

    private final List<RedisServer> servers;
    private final List<RedisServer> sentinels;

    private RedisSentinels(List<RedisServer> servers, List<RedisServer> sentinels) {
        this.servers = List.copyOf(servers);
        this.sentinels = List.copyOf(sentinels);
    }

    /**
     * Starts the servers, and returns when each sentinel has found all others and all replicas.
     *
     * @param replicas number of replicas; a fail-over needs one
     * @param arguments options of redis-server for the master and its replicas
     */
    public static RedisSentinels start(int replicas, String... arguments) {
        List<RedisServer> started = new ArrayList<>();
        try {
            IntStream.rangeClosed(0, replicas).forEach(i -> started.add(RedisServer.start(arguments)));
            RedisServer master = started.get(0);
            started.stream().skip(1).forEach(replica -> replica.replicaOf(master));
            IntStream.range(0, SENTINELS).forEach(i -> started.add(RedisServer.startSentinel(arguments)));
            RedisSentinels group =
                    new RedisSentinels(started.subList(0, 1 + replicas), started.subList(1 + replicas, started.size()));
            group.watch(master);
            return group;
        } catch (RuntimeException e) {
            started.forEach(RedisServer::close);
            throw e;
        }
    }

    /** Returns the master and its replicas, first the server started as the master. */
    public List<RedisServer> servers() {
        return servers;
    }

    public List<RedisServer> sentinels() {
        return sentinels;
    }

    /** Returns the addresses of the sentinels in the format of {@code spring.data.redis.sentinel.nodes}. */
    public String addresses() {
        return sentinels.stream()
                .map(sentinel -> sentinel.host() + ":" + sentinel.port())
                .collect(Collectors.joining(","));
    }

    /** Waits until all sentinels report the same master, and returns it. */
    public RedisServer master() {
        return awaitMaster(server -> true, "The sentinels report different masters");
    }

    /** Waits until all sentinels report the same master other than this one, and returns it. */
    public RedisServer awaitOtherMaster(RedisServer former) {
        return awaitMaster(server -> !server.equals(former), "No replica of " + former + " was promoted");
    }

    /** Waits until no server and no sentinel is suspected to be down, and all replicas follow the master. */
    public void awaitHealthy() {
        Waiting.until(
                READY_WITHIN,
                () -> sentinels.stream().allMatch(this::knowsAll) && RedisServer.follow(servers, List.of(master())),
                () -> "The group is not healthy: "
                        + sentinels.stream().map(RedisSentinels::state).toList());
    }

    /** Changes the time without a reply after which the sentinels replace a master. */
    public void setDownAfter(Duration duration) {
        for (RedisServer sentinel : sentinels) {
            try (RawRedis redis = sentinel.connect()) {
                String millis = String.valueOf(duration.toMillis());
                redis.command("SENTINEL", "SET", MASTER_NAME, "down-after-milliseconds", millis);
            }
        }
    }

    /** Returns the nano time at which the first sentinel switched to the present master. */
    public long switchedAt() {
        long now = System.nanoTime();
        return sentinels.stream()
                .filter(RedisServer::isRunning)
                .mapToLong(sentinel -> Long.parseLong(state(sentinel).getOrDefault("role-reported-time", "0")))
                .map(millis -> now - Duration.ofMillis(millis).toNanos())
                .min()
                .orElse(now);
    }

    /** Makes a sentinel promote a replica, as an operator does, and waits for it. */
    public RedisServer failOver() {
        RedisServer former = master();
        long[] askedAt = {System.nanoTime() - ASK_AGAIN.toNanos()};
        Set<RedisServer> named = new HashSet<>();
        Waiting.until(
                READY_WITHIN,
                () -> {
                    if (System.nanoTime() - askedAt[0] >= ASK_AGAIN.toNanos()) {
                        askedAt[0] = System.nanoTime();
                        askForFailOver();
                    }
                    return isOneOther(named, former);
                },
                () -> "No replica of " + former + " was promoted");
        return named.iterator().next();
    }

    /** A sentinel gives up silently if its data on the replicas are too old. */
    private void askForFailOver() {
        try (RawRedis redis = sentinels.get(0).connect()) {
            redis.command("SENTINEL", "FAILOVER", MASTER_NAME);
        } catch (RawRedis.RedisError notYet) {
            // The caller repeats the request.
        }
    }

    private boolean isOneOther(Set<RedisServer> named, RedisServer former) {
        named.clear();
        sentinels.forEach(sentinel -> named.add(masterBy(sentinel)));
        return named.size() == 1 && !named.contains(former);
    }

    private RedisServer awaitMaster(Predicate<RedisServer> wanted, String otherwise) {
        Set<RedisServer> named = new HashSet<>();
        Waiting.until(
                READY_WITHIN,
                () -> {
                    named.clear();
                    sentinels.forEach(sentinel -> named.add(masterBy(sentinel)));
                    return named.size() == 1 && named.stream().allMatch(wanted);
                },
                () -> otherwise + ": " + named);
        return named.iterator().next();
    }

    /** Kills all servers and deletes their data. A second call has no effect. */
    @Override
    public void close() {
        sentinels.forEach(RedisServer::close);
        servers.forEach(RedisServer::close);
    }

    private void watch(RedisServer master) {
        for (RedisServer sentinel : sentinels) {
            try (RawRedis redis = sentinel.connect()) {
                redis.command("SENTINEL", "MONITOR", MASTER_NAME, master.host(), String.valueOf(master.port()), QUORUM);
                redis.command("SENTINEL", "SET", MASTER_NAME, "failover-timeout", "10000");
            }
        }
        setDownAfter(DOWN_AFTER);
        Waiting.until(
                READY_WITHIN,
                () -> sentinels.stream().allMatch(this::knowsAll),
                () -> "The sentinels have not found each other: "
                        + sentinels.stream().map(RedisSentinels::state).toList());
    }

    private boolean knowsAll(RedisServer sentinel) {
        Map<String, String> state = state(sentinel);
        return String.valueOf(servers.size() - 1).equals(state.get("num-slaves"))
                && String.valueOf(SENTINELS - 1).equals(state.get("num-other-sentinels"))
                && "master".equals(state.get("flags"));
    }

    private static Map<String, String> state(RedisServer sentinel) {
        try (RawRedis redis = sentinel.connect()) {
            return pairs((List<?>) redis.require("SENTINEL", "MASTER", MASTER_NAME));
        }
    }

    private static Map<String, String> pairs(List<?> flat) {
        return IntStream.range(0, flat.size() / 2)
                .boxed()
                .collect(Collectors.toMap(
                        i -> RawRedis.text((byte[]) flat.get(2 * i)),
                        i -> RawRedis.text((byte[]) flat.get(2 * i + 1)),
                        (first, second) -> second));
    }

    private RedisServer masterBy(RedisServer sentinel) {
        try (RawRedis redis = sentinel.connect()) {
            List<?> address = (List<?>) redis.require("SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER_NAME);
            int port = Integer.parseInt(RawRedis.text((byte[]) address.get(1)));
            return servers.stream()
                    .filter(server -> server.port() == port)
                    .findFirst()
                    .orElseThrow(() -> new IllegalStateException("No server of this group listens on port " + port));
        }
    }
}
