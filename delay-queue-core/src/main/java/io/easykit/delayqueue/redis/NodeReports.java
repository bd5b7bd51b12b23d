package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.admin.FleetSnapshot;
import io.easykit.delayqueue.admin.NodeInfo;
import io.easykit.delayqueue.store.NodeReport;
import io.easykit.delayqueue.support.Bytes;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reports of nodes and snapshots as JSON, which later versions may extend: fields that are unknown are skipped, and missing ones
 * empty. A report stays small, however many listeners a node has: those that no longer fit are one entry for each topic, with
 * the sum of their calls. The places of a topic have to be right, because an alert depends on them.
 */
final class NodeReports {

    /** About 600 listeners. */
    private static final int MOST_BYTES_OF_LISTENERS = 60_000;

    /** Names that applications choose are cut, so that a report stays small. */
    private static final int MOST_CHARACTERS = 128;

    private static final JsonMapper JSON = JsonMapper.shared();

    private NodeReports() {}

    static Bytes encode(NodeReport report) {
        ObjectNode json = JSON.createObjectNode();
        json.put("app", cut(report.application()));
        json.put("host", cut(report.host()));
        json.put("up", report.uptime().toMillis());
        ObjectNode versions = json.putObject("versions");
        new TreeMap<>(report.versions()).forEach((of, version) -> versions.put(cut(of), cut(version)));
        ArrayNode listeners = json.putArray("listeners");
        Map<String, NodeInfo.Listener> sums = new TreeMap<>();
        int bytes = 0;
        for (NodeInfo.Listener listener : report.listeners()) {
            ObjectNode one = JSON.createObjectNode();
            encode(one, listener);
            bytes += JSON.writeValueAsBytes(one).length;
            if (bytes <= MOST_BYTES_OF_LISTENERS) {
                listeners.add(one);
            } else {
                sums.merge(listener.topic(), sum(listener), NodeReports::sum);
            }
        }
        sums.values().forEach(sum -> encode(listeners.addObject(), sum));
        return Bytes.of(JSON.writeValueAsBytes(json));
    }

    /** As a part of a sum: without a name, and without places if it is paused. */
    private static NodeInfo.Listener sum(NodeInfo.Listener one) {
        return new NodeInfo.Listener(
                "", one.topic(), one.busy(), one.pause() == null ? one.places() : 0, one.oldestRun(), null);
    }

    private static NodeInfo.Listener sum(NodeInfo.Listener one, NodeInfo.Listener other) {
        boolean isOlder = one.oldestRun().compareTo(other.oldestRun()) > 0;
        return new NodeInfo.Listener(
                "",
                one.topic(),
                one.busy() + other.busy(),
                one.places() + other.places(),
                isOlder ? one.oldestRun() : other.oldestRun(),
                null);
    }

    private static void encode(ObjectNode json, NodeInfo.Listener listener) {
        json.put("id", listener.id());
        json.put("topic", listener.topic());
        json.put("busy", listener.busy());
        json.put("places", listener.places());
        if (!listener.oldestRun().isZero()) {
            json.put("oldest", listener.oldestRun().toMillis());
        }
        NodeInfo.Pause pause = listener.pause();
        if (pause != null) {
            ObjectNode paused = json.putObject("paused");
            Instant at = pause.at();
            if (at != null) {
                paused.put("at", at.toEpochMilli());
            }
            paused.put("by", cut(pause.by()));
        }
    }

    /**
     * Reads a report.
     *
     * @param text the time of the heartbeat in ms, a colon, and the JSON; null if it is missing
     * @return a node without listeners if it cannot be read
     */
    static NodeInfo decode(String node, byte @Nullable [] text, Instant now) {
        try {
            String all = text == null ? "" : new String(text, StandardCharsets.UTF_8);
            int colon = all.indexOf(':');
            return decode(
                    node, Instant.ofEpochMilli(Long.parseLong(all.substring(0, colon))), all.substring(colon + 1));
        } catch (RuntimeException unreadable) {
            return new NodeInfo(node, "", "", Map.of(), now, now, List.of());
        }
    }

    private static NodeInfo decode(String node, Instant seenAt, String text) {
        JsonNode json = JSON.readTree(text);
        Map<String, String> versions = new TreeMap<>();
        json.path("versions")
                .properties()
                .forEach(entry -> versions.put(entry.getKey(), entry.getValue().asString("")));
        List<NodeInfo.Listener> listeners = new ArrayList<>();
        json.path("listeners").forEach(listener -> listeners.add(listener(listener)));
        return new NodeInfo(
                node,
                json.path("app").asString(""),
                json.path("host").asString(""),
                versions,
                seenAt.minusMillis(json.path("up").asLong(0)),
                seenAt,
                listeners);
    }

    private static NodeInfo.Listener listener(JsonNode json) {
        return new NodeInfo.Listener(
                json.path("id").asString(""),
                json.path("topic").asString(""),
                json.path("busy").asInt(0),
                json.path("places").asInt(0),
                Duration.ofMillis(json.path("oldest").asLong(0)),
                json.has("paused") ? pause(json.path("paused")) : null);
    }

    private static NodeInfo.Pause pause(JsonNode json) {
        return new NodeInfo.Pause(
                json.has("at") ? Instant.ofEpochMilli(json.path("at").asLong(0)) : null,
                json.path("by").asString(""));
    }

    static Bytes encode(FleetSnapshot snapshot) {
        return Bytes.of(JSON.writeValueAsBytes(snapshot));
    }

    /** Null if it cannot be read, as one of another version. */
    static @Nullable FleetSnapshot decodeSnapshot(byte[] text) {
        try {
            return JSON.readValue(text, FleetSnapshot.class);
        } catch (RuntimeException unreadable) {
            return null;
        }
    }

    private static String cut(String text) {
        return text.substring(0, Math.min(MOST_CHARACTERS, text.length()));
    }
}
