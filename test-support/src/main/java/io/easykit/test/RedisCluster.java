package io.easykit.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A real Redis Cluster that a test owns, of servers that it may kill, pause and restart one by one.
 *
 * <p>Every slot is served and every node knows all others when {@code start} returns, after some two seconds: a master
 * refuses to serve for as long after its start.
 */
public final class RedisCluster implements AutoCloseable {
    private static final Duration READY_WITHIN = Duration.ofSeconds(60);
    private static final int SLOTS = 16_384;

    private final List<RedisServer> masters;
    private final List<RedisServer> replicas;

    private RedisCluster(List<RedisServer> masters, List<RedisServer> replicas) {
        this.masters = List.copyOf(masters);
        this.replicas = List.copyOf(replicas);
    }

    /** Starts three masters without replicas. */
    public static RedisCluster start() {
        return start(3, 0);
    }

    /**
     * Starts a cluster.
     *
     * @param masters how many masters share the slots; a fail-over needs three, since the masters vote
     * @param replicasEach how many replicas follow each master
     * @param arguments options of redis-server for every node, such as {@code "--cluster-node-timeout", "1000"}
     */
    public static RedisCluster start(int masters, int replicasEach, String... arguments) {
        if (masters < 1 || replicasEach < 0) {
            throw new IllegalArgumentException("A cluster has at least one master and no negative number of replicas,"
                    + " not " + masters + " and " + replicasEach);
        }
        List<RedisServer> nodes = new ArrayList<>();
        try {
            for (int i = 0; i < masters * (1 + replicasEach); i++) {
                nodes.add(RedisServer.start(clustered(arguments)));
            }
            RedisCluster cluster = new RedisCluster(nodes.subList(0, masters), nodes.subList(masters, nodes.size()));
            cluster.form();
            return cluster;
        } catch (RuntimeException e) {
            nodes.forEach(RedisServer::close);
            throw e;
        }
    }

    /** All nodes, first those that were started as masters. */
    public List<RedisServer> nodes() {
        return Stream.concat(masters.stream(), replicas.stream()).toList();
    }

    /** The nodes that were started as masters, in the order of their slots. */
    public List<RedisServer> masters() {
        return masters;
    }

    /** The nodes that were started as replicas: the first follows the first master, and so on in turns. */
    public List<RedisServer> replicas() {
        return replicas;
    }

    /** The node that was started as the master of this key's slot. */
    public RedisServer masterOf(String key) {
        try (RawRedis redis = masters.get(0).connect()) {
            long slot = (Long) redis.require("CLUSTER", "KEYSLOT", key);
            return masters.get((int) (slot * masters.size() / SLOTS));
        }
    }

    /** Waits until a replica of this master was promoted, and returns it. */
    public RedisServer awaitPromotion(RedisServer former) {
        List<RedisServer> candidates = IntStream.range(0, replicas.size())
                .filter(i -> masters.get(i % masters.size()).equals(former))
                .mapToObj(replicas::get)
                .toList();
        List<RedisServer> promoted = new ArrayList<>();
        Waiting.until(
                READY_WITHIN,
                () -> {
                    candidates.stream().filter(RedisCluster::isMaster).forEach(promoted::add);
                    return !promoted.isEmpty();
                },
                () -> "No replica of " + former + " was promoted");
        return promoted.get(0);
    }

    private static boolean isMaster(RedisServer server) {
        try (RawRedis redis = server.connect()) {
            return "master".equals(redis.info("replication").get("role"));
        }
    }

    /** The addresses of all nodes in the form that {@code spring.data.redis.cluster.nodes} takes. */
    public String addresses() {
        return nodes().stream().map(node -> node.host() + ":" + node.port()).collect(Collectors.joining(","));
    }

    /** Kills all nodes and deletes their data; a second call does nothing. */
    @Override
    public void close() {
        nodes().forEach(RedisServer::close);
    }

    private static String[] clustered(String... arguments) {
        return Stream.concat(
                        Stream.of("--cluster-enabled", "yes", "--cluster-node-timeout", "5000"),
                        Arrays.stream(arguments))
                .toArray(String[]::new);
    }

    /**
     * Distinct epochs and slots before the nodes meet leave them nothing to negotiate, and as everybody meets everybody
     * nobody has to wait for gossip.
     */
    private void form() {
        List<RawRedis> links = nodes().stream().map(RedisServer::connect).toList();
        try {
            for (int i = 0; i < links.size(); i++) {
                links.get(i).command("CLUSTER", "SET-CONFIG-EPOCH", String.valueOf(i + 1));
            }
            for (int i = 0; i < masters.size(); i++) {
                links.get(i).command(addSlots(i));
            }
            links.forEach(this::meetAll);
            Waiting.until(
                    READY_WITHIN,
                    () -> links.stream().allMatch(this::knowsAll),
                    () -> "The nodes did not meet: " + states(links));
            for (int i = 0; i < replicas.size(); i++) {
                follow(links.get(masters.size() + i), links.get(i % masters.size()));
            }
            Waiting.until(
                    READY_WITHIN,
                    () -> links.stream().allMatch(RedisCluster::serves),
                    () -> "The cluster did not form: " + states(links));
        } finally {
            links.forEach(RawRedis::close);
        }
    }

    /** Slots of the i-th master; ADDSLOTSRANGE would be shorter, but Redis 6.2 lacks it. */
    private String[] addSlots(int i) {
        return Stream.concat(
                        Stream.of("CLUSTER", "ADDSLOTS"),
                        IntStream.range(firstSlot(i), firstSlot(i + 1)).mapToObj(String::valueOf))
                .toArray(String[]::new);
    }

    /** The smallest slot that {@link #masterOf} gives to the i-th master. */
    private int firstSlot(int i) {
        return (i * SLOTS + masters.size() - 1) / masters.size();
    }

    private void meetAll(RawRedis redis) {
        for (RedisServer node : nodes()) {
            redis.command("CLUSTER", "MEET", node.host(), String.valueOf(node.port()));
        }
    }

    /** A node that still shakes hands has no address that counts, and would not be found as a master. */
    private boolean knowsAll(RawRedis redis) {
        String known = RawRedis.text((byte[]) redis.require("CLUSTER", "NODES"));
        return !known.contains("handshake") && known.lines().count() == nodes().size();
    }

    private static void follow(RawRedis replica, RawRedis master) {
        replica.command("CLUSTER", "REPLICATE", RawRedis.text((byte[]) master.require("CLUSTER", "MYID")));
    }

    /** Whether this node serves and, as a replica, holds its master's data. */
    private static boolean serves(RawRedis redis) {
        Map<String, String> state = state(redis);
        return "ok".equals(state.get("cluster_state"))
                && String.valueOf(SLOTS).equals(state.get("cluster_slots_ok"))
                && "up".equals(redis.info("replication").getOrDefault("master_link_status", "up"));
    }

    private static List<Map<String, String>> states(List<RawRedis> links) {
        return links.stream().map(RedisCluster::state).toList();
    }

    private static Map<String, String> state(RawRedis redis) {
        return redis.fields("CLUSTER", "INFO");
    }
}
