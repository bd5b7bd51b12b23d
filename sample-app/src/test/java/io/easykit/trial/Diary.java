package io.easykit.trial;

import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Records the calls of the nodes, and their results, in one round. */
final class Diary {

    enum Kind {
        READ_AP,
        READ_CP,
        UPDATE_AP,
        UPDATE_CP,
        SEND;

        boolean isRead() {
            return this == READ_AP || this == READ_CP;
        }
    }

    /** @param error null if the call returned */
    record Call(Kind kind, int node, int share, long began, long ended, @Nullable Exception error) {

        boolean isOk() {
            return error == null;
        }

        long took() {
            return ended - began;
        }
    }

    /**
     * A read that returned an older version than the database had when the read began.
     *
     * @param own whether the reading node made the update itself
     * @param overtakenAt nano time at which the update returned
     * @param what the entry, and the result of the read
     */
    record StaleRead(Kind kind, boolean own, long began, long overtakenAt, String what) {

        long age() {
            return began - overtakenAt;
        }
    }

    /** @param dueMillis earliest time of its delivery, by the machine's clock */
    private record Message(int share, long dueMillis) {}

    record Delivery(int share, long at) {}

    private final Queue<Call> calls = new ConcurrentLinkedQueue<>();
    private final Queue<StaleRead> staleReads = new ConcurrentLinkedQueue<>();
    private final Queue<Delivery> deliveries = new ConcurrentLinkedQueue<>();
    private final Map<String, Message> messages = new ConcurrentHashMap<>();
    private final Map<String, Message> acknowledged = new ConcurrentHashMap<>();
    private final Map<String, AtomicInteger> delivered = new ConcurrentHashMap<>();
    private final AtomicInteger early = new AtomicInteger();

    void called(Call call) {
        calls.add(call);
    }

    void stale(StaleRead read) {
        staleReads.add(read);
    }

    /** Called before the send, because a delivery may be faster than the reply to the sender. */
    void sending(String id, int share, long dueMillis) {
        messages.put(id, new Message(share, dueMillis));
    }

    void acknowledged(String id) {
        acknowledged.put(id, messages.get(id));
    }

    /** Messages of other rounds are not counted. */
    void delivered(String id) {
        Message message = messages.get(id);
        if (message == null) {
            return;
        }
        if (System.currentTimeMillis() < message.dueMillis()) {
            early.incrementAndGet();
        }
        delivered.computeIfAbsent(id, unseen -> new AtomicInteger()).incrementAndGet();
        deliveries.add(new Delivery(message.share(), System.nanoTime()));
    }

    List<Call> calls() {
        return List.copyOf(calls);
    }

    List<StaleRead> staleReads() {
        return List.copyOf(staleReads);
    }

    List<Delivery> deliveries() {
        return List.copyOf(deliveries);
    }

    int acknowledgedSends() {
        return acknowledged.size();
    }

    /** Returns messages whose send returned and that were not delivered. */
    List<String> missing() {
        return acknowledged.keySet().stream()
                .filter(id -> !delivered.containsKey(id))
                .toList();
    }

    long deliveredTwice() {
        return delivered.values().stream().filter(times -> times.get() > 1).count();
    }

    int early() {
        return early.get();
    }
}
