package io.easykit.trial;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;
import java.util.zip.CRC32;

/** Names of entries and messages, by the share of the servers that stores them. */
final class Keys {

    private static final int ENTRIES = 8;
    private static final int SHARDS_A_SHARE = 2;

    private final String topic;
    private final int[] shareOfShard;
    private final List<List<Map.Entry<String, Versions>>> ap;
    private final List<List<Map.Entry<String, Versions>>> cp;

    private Keys(
            String topic,
            int[] shareOfShard,
            List<List<Map.Entry<String, Versions>>> ap,
            List<List<Map.Entry<String, Versions>>> cp) {
        this.topic = topic;
        this.shareOfShard = shareOfShard;
        this.ap = ap;
        this.cp = cp;
    }

    static Keys of(Topology topology, int nodes) {
        int shards = topology.shares() == 1 ? 1 : topology.shares() * SHARDS_A_SHARE;
        String topic = IntStream.range(0, 1_000)
                .mapToObj(i -> "trial" + i)
                .filter(name -> covers(topology, shares(name, shards, topology::shareOf)))
                .findFirst()
                .orElseThrow();
        return new Keys(
                topic,
                shares(topic, shards, topology::shareOf),
                entries(TrialNode.AP, topology, nodes),
                entries(TrialNode.CP, topology, nodes));
    }

    String keyOfFirstShard() {
        return keyOf(topic, 0);
    }

    String topic() {
        return topic;
    }

    int shards() {
        return shareOfShard.length;
    }

    int shares() {
        return ap.size();
    }

    int shareOfFirstShard() {
        return shareOfShard[0];
    }

    List<Map.Entry<String, Versions>> ap(int share) {
        return ap.get(share);
    }

    List<Map.Entry<String, Versions>> cp(int share) {
        return cp.get(share);
    }

    /** Returns an id whose shard is in this share. Each number gives a different id. */
    String messageId(int share, long number) {
        return IntStream.range(0, 10_000)
                .mapToObj(i -> number + "-" + i)
                .filter(id -> shareOfShard[shardOf(id)] == share)
                .findFirst()
                .orElseThrow();
    }

    /** The queue's own hash of application ids. */
    private int shardOf(String id) {
        CRC32 hash = new CRC32();
        hash.update(id.getBytes(UTF_8));
        return (int) (hash.getValue() % shareOfShard.length);
    }

    private static List<List<Map.Entry<String, Versions>>> entries(String name, Topology topology, int nodes) {
        List<List<Map.Entry<String, Versions>>> all = new ArrayList<>();
        IntStream.range(0, topology.shares()).forEach(share -> all.add(new ArrayList<>()));
        for (int i = 0; all.stream().anyMatch(some -> some.size() < ENTRIES); i++) {
            String id = "k" + i;
            List<Map.Entry<String, Versions>> some = all.get(topology.shareOf("ec:" + name + "::" + id));
            if (some.size() < ENTRIES) {
                some.add(Map.entry(id, new Versions(some.size() % nodes)));
            }
        }
        return all;
    }

    private static int[] shares(String topic, int shards, ToIntFunction<String> shareOf) {
        return IntStream.range(0, shards)
                .map(shard -> shareOf.applyAsInt(keyOf(topic, shard)))
                .toArray();
    }

    private static String keyOf(String topic, int shard) {
        return "dq:{" + topic + ":" + shard + "}:";
    }

    private static boolean covers(Topology topology, int... shares) {
        return IntStream.of(shares).distinct().count() == topology.shares();
    }
}
