package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.admin.NodeInfo;
import io.easykit.delayqueue.store.Beat;
import io.easykit.delayqueue.store.FleetStore;
import io.easykit.redis.ListReply;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** Reads the replies of the scripts about topics and nodes, in the forms that their headers name. */
final class FleetReplies {

    enum TopicsReply {}

    enum TopicField {
        TOPIC,
        SHARDS
    }

    enum BeatReply {
        NOW,
        IS_FIRST
    }

    enum PauseRequestField {
        LISTENER,
        REQUEST
    }

    enum NodesReply {
        NOW,
        NODES
    }

    enum NodeField {
        NODE,
        REPORT
    }

    enum ShareReply {
        IS_TAKER,
        SNAPSHOT
    }

    private FleetReplies() {}

    static SortedMap<String, Integer> topics(List<?> list) {
        ListReply reply = Replies.of(QueueScript.TOPICS, list, TopicsReply.class);
        SortedMap<String, Integer> topics = new TreeMap<>();
        for (ListReply topic : reply.groups(TopicField.class)) {
            topics.put(topic.text(TopicField.TOPIC), (int) Double.parseDouble(topic.text(TopicField.SHARDS)));
        }
        return topics;
    }

    static Beat beat(List<?> list) {
        ListReply reply = Replies.of(QueueScript.BEAT, list, BeatReply.class);
        List<Beat.PauseRequest> requests = new ArrayList<>();
        for (ListReply request : reply.groups(PauseRequestField.class)) {
            pauseRequest(request.text(PauseRequestField.LISTENER), request.text(PauseRequestField.REQUEST))
                    .ifPresent(requests::add);
        }
        return new Beat(reply.instant(BeatReply.NOW), reply.number(BeatReply.IS_FIRST) == 1, requests);
    }

    /** Empty for a text that is no request: it was written by hand. */
    private static Optional<Beat.PauseRequest> pauseRequest(String listener, String text) {
        String[] parts = text.split(":", 3);
        boolean isRequest = parts.length == 3 && parts[0].matches("pause|resume") && parts[1].matches("\\d{1,18}");
        return isRequest
                ? Optional.of(
                        new Beat.PauseRequest(listener, parts[0].equals("pause"), Long.parseLong(parts[1]), parts[2]))
                : Optional.empty();
    }

    static FleetStore.SharedSnapshot sharedSnapshot(List<?> list) {
        ListReply reply = Replies.of(QueueScript.SHARE, list, ShareReply.class);
        byte[] snapshot = reply.bytesOrNull(ShareReply.SNAPSHOT);
        return new FleetStore.SharedSnapshot(
                reply.number(ShareReply.IS_TAKER) == 1, snapshot == null ? null : NodeReports.decodeSnapshot(snapshot));
    }

    static ListReply nodesReply(List<?> list) {
        return Replies.of(QueueScript.NODES, list, NodesReply.class);
    }

    static long nodesInAll(ListReply reply) {
        return reply.number(NodesReply.NODES);
    }

    static List<NodeInfo> nodes(ListReply reply) {
        List<NodeInfo> nodes = new ArrayList<>();
        for (ListReply node : reply.groups(NodeField.class)) {
            nodes.add(NodeReports.decode(
                    node.text(NodeField.NODE), node.bytesOrNull(NodeField.REPORT), reply.instant(NodesReply.NOW)));
        }
        return nodes;
    }
}
