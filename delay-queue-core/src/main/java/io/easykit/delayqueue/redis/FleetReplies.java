package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.admin.NodeInfo;
import io.easykit.delayqueue.store.Beat;
import io.easykit.delayqueue.store.FleetStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** Reads the replies of the scripts about topics and nodes, in the forms that their headers name. */
final class FleetReplies {

    private FleetReplies() {}

    static SortedMap<String, Integer> topics(List<?> reply) {
        SortedMap<String, Integer> topics = new TreeMap<>();
        for (int at = 0; at < reply.size(); at += 2) {
            topics.put(Replies.text(reply, at), (int) Double.parseDouble(Replies.text(reply, at + 1)));
        }
        return topics;
    }

    static Beat beat(List<?> reply) {
        List<Beat.Wish> wishes = new ArrayList<>();
        for (int at = 2; at < reply.size(); at += 2) {
            wish(Replies.text(reply, at), Replies.text(reply, at + 1)).ifPresent(wishes::add);
        }
        return new Beat(Replies.instant(reply, 0), Replies.number(reply, 1) == 1, wishes);
    }

    /** What was written by hand and is no wish, is none. */
    private static Optional<Beat.Wish> wish(String listener, String text) {
        String[] parts = text.split(":", 3);
        boolean isWish = parts.length == 3 && parts[0].matches("pause|resume") && parts[1].matches("\\d{1,18}");
        return isWish
                ? Optional.of(new Beat.Wish(listener, parts[0].equals("pause"), Long.parseLong(parts[1]), parts[2]))
                : Optional.empty();
    }

    static FleetStore.SharedSnapshot sharedSnapshot(List<?> reply) {
        byte[] snapshot = Replies.bytesOrNull(reply, 1);
        return new FleetStore.SharedSnapshot(
                Replies.number(reply, 0) == 1, snapshot == null ? null : NodeReports.decodeSnapshot(snapshot));
    }

    static long nodesInAll(List<?> reply) {
        return Replies.number(reply, 1);
    }

    static List<NodeInfo> nodes(List<?> reply) {
        List<NodeInfo> nodes = new ArrayList<>();
        for (int at = 2; at < reply.size(); at += 2) {
            nodes.add(NodeReports.decode(
                    Replies.text(reply, at), Replies.bytesOrNull(reply, at + 1), Replies.instant(reply, 0)));
        }
        return nodes;
    }
}
