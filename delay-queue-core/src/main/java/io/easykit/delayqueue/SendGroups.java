package io.easykit.delayqueue;

import io.easykit.delayqueue.QueueStore.NewMessage;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Group commit for single sends. While a call to a shard is on its way, sends to the same shard from other threads wait, and
 * go together in the next call. What a call costs a Redis is mostly the call, so eight threads that send one by one cost it
 * little more than half as much. A send that meets no other goes at once.
 *
 * <p>The group has no thread of its own: the first of those that wait makes the call for all, and then hands over to the
 * first of those that have come meanwhile.
 *
 * <p><b>Failures.</b> A call without an answer fails the whole group, and also those that wait behind it: they would wait
 * longer than one timeout for the same. A call that was refused says nothing of the single message, so each of the group is
 * sent again alone, and nobody pays for a neighbour. To repeat is safe, the frame tells this send from any other.
 */
final class SendGroups {

    /** From here on the bytes cost more than the calls. */
    private static final int MOST_BYTES = 1 << 16;

    private final QueueStore store;
    private final Map<ShardKey, Lane> lanes = new ConcurrentHashMap<>();

    SendGroups(QueueStore store) {
        this.store = store;
    }

    /** As {@link QueueStore#send} with one message. */
    SendOutcome send(ShardKey shard, NewMessage message) {
        Seat seat = new Seat(message, new CompletableFuture<>());
        Lane lane = lanes.computeIfAbsent(shard, Lane::new);
        return lane.waits(seat) ? seat.turn().join().get() : lane.lead(seat);
    }

    /**
     * A send that takes part.
     *
     * @param turn what its own thread does when it need not wait any longer
     */
    private record Seat(NewMessage message, CompletableFuture<Supplier<SendOutcome>> turn) {

        void goOn(Supplier<SendOutcome> next) {
            turn.complete(next);
        }
    }

    /** The sends to one shard. */
    private final class Lane {

        private final ShardKey shard;
        private final Deque<Seat> waiting = new ArrayDeque<>();
        private boolean busy;

        Lane(ShardKey shard) {
            this.shard = shard;
        }

        /** False if no call is on its way: then this send is the next. */
        synchronized boolean waits(Seat seat) {
            if (busy) {
                waiting.add(seat);
                return true;
            }
            busy = true;
            return false;
        }

        /** Makes the call for this send and for those that wait by now. */
        SendOutcome lead(Seat own) {
            List<Seat> group = takeGroup(own);
            List<Seat> others = group.subList(1, group.size());
            try {
                List<SendOutcome> outcomes =
                        store.send(shard, group.stream().map(Seat::message).toList());
                for (int i = 1; i < group.size(); i++) {
                    SendOutcome outcome = outcomes.get(i);
                    group.get(i).goOn(() -> outcome);
                }
                return outcomes.get(0);
            } catch (StoreUnavailableException e) {
                others.forEach(seat -> fail(seat, e));
                takeAll().forEach(seat -> fail(seat, e));
                throw e;
            } catch (RuntimeException | Error e) {
                if (others.isEmpty()) {
                    throw e;
                }
                others.forEach(seat -> seat.goOn(() -> alone(seat)));
                return alone(own);
            } finally {
                handOver();
            }
        }

        private SendOutcome alone(Seat seat) {
            return store.send(shard, List.of(seat.message())).get(0);
        }

        private static void fail(Seat seat, StoreUnavailableException e) {
            seat.goOn(() -> {
                throw new StoreUnavailableException(
                        "The call that this send went with, or waited behind: " + e.getMessage(), e);
            });
        }

        private synchronized void handOver() {
            Seat next = waiting.poll();
            busy = next != null;
            if (next != null) {
                next.goOn(() -> lead(next));
            }
        }

        private synchronized List<Seat> takeGroup(Seat own) {
            List<Seat> group = new ArrayList<>(List.of(own));
            int bytes = own.message().frame().length();
            while (!waiting.isEmpty() && group.size() < QueueStore.MAX_BATCH && bytes < MOST_BYTES) {
                Seat seat = waiting.remove();
                bytes += seat.message().frame().length();
                group.add(seat);
            }
            return group;
        }

        private synchronized List<Seat> takeAll() {
            List<Seat> all = List.copyOf(waiting);
            waiting.clear();
            return all;
        }
    }
}
