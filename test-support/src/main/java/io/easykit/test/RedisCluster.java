package io.easykit.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A real Redis Cluster owned by a test, which may kill, pause and restart its servers separately.
 *
 * <p>When {@code start} returns, every slot is served and the nodes are connected. This takes about two seconds,
 * because a master refuses to serve that long after its start.
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
     * @param masters number of masters that share the slots; a fail-over needs three, because masters vote
     * @param replicasEach number of replicas of each master
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

    /** Returns all nodes, first those started as masters. */
    public List<RedisServer> nodes() {
        return Stream.concat(masters.stream(), replicas.stream()).toList();
    }

    /** Returns the nodes started as masters, in the order of their slots. */
    public List<RedisServer> masters() {
        return masters;
    }

    /** Returns the nodes started as replicas, assigned to the masters in turn. */
    public List<RedisServer> replicas() {
        return replicas;
    }

    /** Returns the node started as the master of this key's slot. */
    public RedisServer masterOf(String key) {
        return masters.get(shareOf(key));
    }

    /** Returns the index, from 0, of the share of slots that contains this key. It does not change in a fail-over. */
    public int shareOf(String key) {
        return (int) (slotOf(key) * masters.size() / SLOTS);
    }

    /** Waits until exactly one node of a share is its master, and returns it. */
    public RedisServer master(int share) {
        return awaitMaster(share, node -> true);
    }

    /** Waits until exactly one other node of a share is its master, and returns it. */
    public RedisServer awaitOtherMaster(int share, RedisServer former) {
        return awaitMaster(share, node -> node != former);
    }

    /** Waits until each share has one master followed by its other nodes, and all nodes serve all slots. */
    public void awaitHealthy() {
        List<RedisServer> present =
                IntStream.range(0, masters.size()).mapToObj(this::master).toList();
        Waiting.until(
                READY_WITHIN,
                () -> RedisServer.follow(nodes(), present) && nodes().stream().allMatch(RedisCluster::serves),
                () -> "The cluster is not healthy");
    }

    /**
     * Moves the slot of a key, with all its keys, to another share, as {@code redis-cli --cluster reshard} does.
     *
     * @param keysACall number of keys moved by one MIGRATE
     */
    public void moveSlot(String key, int toShare, int keysACall) {
        try (SlotMove move = beginMove(key, toShare)) {
            while (move.moveKeys(keysACall)) {
                // until none is left
            }
            move.finish();
        }
    }

    /**
     * Starts to move the slot of a key to the master of another share. The caller moves the keys, and finishes it.
     * Waits until all nodes have received an earlier move: otherwise two masters could claim the slot with the same
     * epoch.
     */
    public SlotMove beginMove(String key, int toShare) {
        int slot = (int) slotOf(key);
        Waiting.until(
                READY_WITHIN,
                () -> nodes().stream()
                                .map(node -> ownerOf(slot, node))
                                .distinct()
                                .count()
                        == 1,
                () -> "The nodes do not agree on the owner of slot " + slot);
        RedisServer target = master(toShare);
        RedisServer source = IntStream.range(0, masters.size())
                .mapToObj(this::master)
                .filter(master -> master != target && serves(master, slot))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("Slot " + slot + " is on " + target + " already"));
        return new SlotMove(String.valueOf(slot), source, target);
    }

    /** A slot in transit from one master to another. */
    public static final class SlotMove implements AutoCloseable {

        private final String slot;
        private final RedisServer target;
        private final RawRedis from;
        private final RawRedis to;
        private final String targetId;

        private SlotMove(String slot, RedisServer source, RedisServer target) {
            this.slot = slot;
            this.target = target;
            this.from = source.connect();
            this.to = target.connect();
            this.targetId = id(to);
            to.command("CLUSTER", "SETSLOT", slot, "IMPORTING", id(from));
            from.command("CLUSTER", "SETSLOT", slot, "MIGRATING", targetId);
        }

        /**
         * Moves several keys in one call.
         *
         * @return false if there are no keys left
         */
        public boolean moveKeys(int count) {
            List<String> keys = keysIn(slot, count, from);
            if (!keys.isEmpty()) {
                String port = String.valueOf(target.port());
                from.command(Stream.concat(
                                Stream.of("MIGRATE", target.host(), port, "", "0", "5000", "REPLACE", "KEYS"),
                                keys.stream())
                        .toArray(String[]::new));
            }
            return !keys.isEmpty();
        }

        /** Assigns the slot to its new master. Requires that all keys are moved. */
        public void finish() {
            to.command("CLUSTER", "SETSLOT", slot, "NODE", targetId);
            from.command("CLUSTER", "SETSLOT", slot, "NODE", targetId);
        }

        /** Closes the connections. Does not end the move. */
        @Override
        public void close() {
            from.close();
            to.close();
        }
    }

    /** Waits until a replica was promoted in place of a node started as a master, and returns it. */
    public RedisServer awaitPromotion(RedisServer former) {
        return awaitOtherMaster(masters.indexOf(former), former);
    }

    private static List<String> keysIn(String slot, int limit, RawRedis redis) {
        return ((List<?>) redis.require("CLUSTER", "GETKEYSINSLOT", slot, String.valueOf(limit)))
                .stream().map(key -> RawRedis.text((byte[]) key)).toList();
    }

    /** Whether this master serves the slot, according to itself. */
    private static boolean serves(RedisServer master, int slot) {
        return ownerLine(slot, master).contains("myself");
    }

    /** Id and epoch of the master of a slot, as seen by a node. */
    private static String ownerOf(int slot, RedisServer node) {
        String[] fields = ownerLine(slot, node).split(" ", -1);
        return fields[0] + " " + fields[6];
    }

    private static String ownerLine(int slot, RedisServer node) {
        try (RawRedis redis = node.connect()) {
            return RawRedis.text((byte[]) redis.require("CLUSTER", "NODES"))
                    .lines()
                    .filter(line -> Arrays.stream(line.split(" ", -1))
                            .skip(8)
                            .filter(range -> !range.startsWith("["))
                            .map(range -> range.split("-", -1))
                            .anyMatch(range -> Integer.parseInt(range[0]) <= slot
                                    && slot <= Integer.parseInt(range[range.length - 1])))
                    .findFirst()
                    .orElseThrow(() -> new IllegalStateException(node + " knows no owner of slot " + slot));
        }
    }

    private RedisServer awaitMaster(int share, Predicate<RedisServer> wanted) {
        List<RedisServer> candidates = new ArrayList<>(List.of(masters.get(share)));
        for (int i = share; i < replicas.size(); i += masters.size()) {
            candidates.add(replicas.get(i));
        }
        List<RedisServer> found = new ArrayList<>();
        Waiting.until(
                READY_WITHIN,
                () -> {
                    found.clear();
                    candidates.stream()
                            .filter(node -> wanted.test(node) && node.isMaster())
                            .forEach(found::add);
                    return found.size() == 1;
                },
                () -> "Masters of share " + share + ": " + found);
        return found.get(0);
    }

    private long slotOf(String key) {
        RedisServer any = nodes().stream()
                .filter(RedisServer::isMaster)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("No node replies"));
        try (RawRedis redis = any.connect()) {
            return (Long) redis.require("CLUSTER", "KEYSLOT", key);
        }
    }

    private static boolean serves(RedisServer node) {
        try (RawRedis redis = node.connect()) {
            return serves(redis);
        }
    }

    private static String id(RawRedis redis) {
        return RawRedis.text((byte[]) redis.require("CLUSTER", "MYID"));
    }

    /** Returns the addresses of all nodes in the format of {@code spring.data.redis.cluster.nodes}. */
    public String addresses() {
        return nodes().stream().map(node -> node.host() + ":" + node.port()).collect(Collectors.joining(","));
    }

    /** Kills all nodes and deletes their data. A second call has no effect. */
    @Override
    public void close() {
        nodes().forEach(RedisServer::close);
    }

    private static String[] clustered(String... arguments) {
        List<String> tls = TlsCertificate.isUsedBy(List.of(arguments)) ? List.of("--tls-cluster", "yes") : List.of();
        return Stream.of(List.of("--cluster-enabled", "yes", "--cluster-node-timeout", "5000"), tls, List.of(arguments))
                .flatMap(List::stream)
                .toArray(String[]::new);
    }

    /**
     * Sets distinct epochs and slots before the nodes meet, so that they need not negotiate. All nodes meet all others,
     * so that none waits for gossip.
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

    /** Slots of the i-th master. ADDSLOTSRANGE would be shorter, but Redis 6.2 does not have it. */
    private String[] addSlots(int i) {
        return Stream.concat(
                        Stream.of("CLUSTER", "ADDSLOTS"),
                        IntStream.range(firstSlot(i), firstSlot(i + 1)).mapToObj(String::valueOf))
                .toArray(String[]::new);
    }

    /** Returns the smallest slot that {@link #masterOf} assigns to the i-th master. */
    private int firstSlot(int i) {
        return (i * SLOTS + masters.size() - 1) / masters.size();
    }

    private void meetAll(RawRedis redis) {
        for (RedisServer node : nodes()) {
            redis.command("CLUSTER", "MEET", node.host(), String.valueOf(node.port()));
        }
    }

    /** A node in the handshake state has no valid address yet, and would not be found as a master. */
    private boolean knowsAll(RawRedis redis) {
        String known = RawRedis.text((byte[]) redis.require("CLUSTER", "NODES"));
        return !known.contains("handshake") && known.lines().count() == nodes().size();
    }

    private static void follow(RawRedis replica, RawRedis master) {
        replica.command("CLUSTER", "REPLICATE", id(master));
    }

    /** Whether this node serves and, as a replica, has its master's data. */
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
