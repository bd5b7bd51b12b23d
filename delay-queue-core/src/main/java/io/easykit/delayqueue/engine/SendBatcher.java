package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.SendResult.Replication;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.engine.PreparedMessage.Stored;
import io.easykit.delayqueue.store.NewMessage;
import io.easykit.delayqueue.store.QueueStore;
import io.easykit.delayqueue.store.Replicated;
import io.easykit.delayqueue.store.ShardKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Group commit for single sends. While a call to a shard is on its way, sends to the same shard from other threads wait, and
 * go together in the next call. Most of the cost for Redis is the call, so eight threads that send one by one cost it little
 * more than half as much. A send that meets no other goes at once.
 *
 * <p>The batch has no thread of its own: the first waiting thread makes the call for all, and then passes leadership to the
 * first thread that arrived meanwhile. A full batch does not wait: the thread that filled it calls at once, in parallel. So
 * every send waits for at most one call before its own.
 *
 * <p><b>Failures.</b> A call without a reply fails the whole batch, and also the sends that wait behind it: they would wait
 * longer than one timeout for the same result. After a refusal each message of the batch is sent again alone, so that one bad
 * message fails no other.
 *
 * <p><b>Interrupts.</b> The store waits for the reply to a batch although the leader's thread is interrupted. If the call fails
 * nevertheless, the state of the store is open:
 *
 * <ul>
 *   <li>If nothing was sent, the other sends of the batch are sent again.
 *   <li>If the call may have been carried out, they fail with an unknown outcome. A message that was stored may have run meanwhile,
 *       and a repetition would store it once more. {@link SendRetry} repeats those whose delay is long enough.
 *   <li>Sends that wait behind the batch go on in both cases.
 * </ul>
 *
 * <p><b>Leaders that do not return.</b> A send waits no longer than the longest call takes, and once more if its own call has
 * begun. The leader may be a virtual thread that gets no carrier, because threads that wait for it are pinned to all of them, or
 * an error may have ended it. A send that is in no call by then is sent alone. One that is in a call fails with an unknown outcome.
 */
final class SendBatcher {

    /** Maximum size of a batch. Beyond it the bytes cost more than the calls that a batch saves. */
    private static final int MOST_BYTES = 1 << 16;

    private final QueueStore store;
    private final Function<@Nullable ReplicaWait, Duration> longestCall;
    private final Map<Route, RouteBatch> batches = new ConcurrentHashMap<>();

    /** @param longestCall maximum duration of a call with this wait for replicas */
    SendBatcher(QueueStore store, Function<@Nullable ReplicaWait, Duration> longestCall) {
        this.store = store;
        this.longestCall = longestCall;
    }

    /**
     * As {@link QueueStore#send} with one message.
     *
     * @param wait for replicas, or null
     */
    Stored send(ShardKey shard, NewMessage message, @Nullable ReplicaWait wait) {
        PendingSend pending = new PendingSend(message);
        boolean[] waits = new boolean[1];
        RouteBatch batch = Objects.requireNonNull(batches.compute(new Route(shard, wait), (route, present) -> {
            RouteBatch joined = present == null ? new RouteBatch(route) : present;
            waits[0] = joined.waits(pending);
            return joined;
        }));
        if (!waits[0]) {
            return batch.lead(pending);
        }
        Supplier<Stored> next = await(pending, batch, wait);
        return next == PendingSend.LEADS ? batch.lead(pending) : next.get();
    }

    private Supplier<Stored> await(PendingSend pending, RouteBatch batch, @Nullable ReplicaWait wait) {
        try {
            Duration most = longestCall.apply(wait);
            // One call before its own, and its own.
            for (int call = 0; call < 2; call++) {
                Supplier<Stored> next = pending.await(most);
                if (next != null) {
                    return next;
                }
                if (batch.withdraw(pending)) {
                    return () -> batch.alone(pending);
                }
            }
            pending.resume(PendingSend.IS_LATE);
            return pending.next();
        } catch (Throwable e) {
            // To wait needs some memory. The others must not wait for this thread to lead.
            batch.leave(pending);
            throw e;
        }
    }

    /** Number of routes with sends under way. */
    int routes() {
        return batches.size();
    }

    /** As {@link QueueStore#send} with messages of this thread, and {@link QueueStore#sendReplicated} if there is a wait. */
    List<Stored> sendList(ShardKey shard, List<NewMessage> messages, @Nullable ReplicaWait wait) {
        return call(shard, messages, wait, false);
    }

    private List<Stored> call(ShardKey shard, List<NewMessage> messages, @Nullable ReplicaWait wait, boolean isShared) {
        if (wait == null) {
            return store.send(shard, messages, isShared).stream()
                    .map(outcome -> new Stored(outcome, null))
                    .toList();
        }
        Replicated replicated = store.sendReplicated(shard, messages, wait, isShared);
        Replication replication = new Replication(wait.replicas(), replicated.replicas());
        return replicated.outcomes().stream()
                .map(outcome -> new Stored(outcome, replication))
                .toList();
    }

    /** Sends that may share a call. */
    private record Route(ShardKey shard, @Nullable ReplicaWait replicaWait) {}

    /** The sends of one route. Threads join and remove it inside {@link Map#compute}, so that none joins a removed one. */
    private final class RouteBatch {

        private final Route route;

        @SuppressWarnings("JdkObsolete") // an ArrayDeque that lacks the memory to grow forgets those that wait
        private final Deque<PendingSend> waiting = new LinkedList<>();

        private int waitingBytes;
        private int underWay;

        RouteBatch(Route route) {
            this.route = route;
        }

        /** False if no call is on its way, or those that wait are enough for one: then this send leads the next. */
        synchronized boolean waits(PendingSend pending) {
            boolean full = waiting.size() + 1 >= QueueStore.MAX_BATCH || waitingBytes + pending.bytes() >= MOST_BYTES;
            if (underWay == 0 || full) {
                underWay++;
                return false;
            }
            waiting.add(pending);
            waitingBytes += pending.bytes();
            return true;
        }

        /** Makes the call for this send and for those that wait by now. */
        Stored lead(PendingSend own) {
            // No memory is needed before the try: the others would wait for a leader that has ended.
            List<PendingSend> group = List.of();
            List<PendingSend> behind = List.of();
            try {
                group = takeGroup(own);
                List<Stored> outcomes = send(group);
                for (int i = 1; i < group.size(); i++) {
                    Stored outcome = outcomes.get(i);
                    group.get(i).resume(() -> outcome);
                }
                return outcomes.get(0);
            } catch (StoreUnavailableException e) {
                List<PendingSend> others = withoutFirst(group);
                boolean isInterrupted = Thread.currentThread().isInterrupted();
                if (isInterrupted && !e.isOutcomeUnknown()) {
                    goAgain(others);
                    group = List.of(); // another thread may send them already
                } else {
                    others.forEach(pending ->
                            fail(pending, e.because("The call that this send went with: " + e.getMessage())));
                }
                if (!isInterrupted) {
                    behind = takeAll();
                    behind.forEach(pending -> fail(
                            pending,
                            StoreUnavailableException.notCarriedOut(
                                    "Not sent, because the call before it failed: " + e.getMessage(), e)));
                }
                throw e;
            } catch (RuntimeException | Error e) {
                List<PendingSend> others = withoutFirst(group);
                if (SendRetry.mayBeCarriedOut(e)) {
                    others.forEach(pending -> fail(
                            pending,
                            new StoreUnavailableException("The call that this send went with failed: " + e, e)));
                    throw e;
                }
                if (others.isEmpty()) {
                    throw e;
                }
                others.forEach(pending -> pending.resume(() -> alone(pending)));
                return alone(own);
            } finally {
                leaveNobody(group, 1);
                leaveNobody(behind, 0);
                passLeadership();
            }
        }

        private static List<PendingSend> withoutFirst(List<PendingSend> group) {
            return group.isEmpty() ? group : group.subList(1, group.size());
        }

        private Stored alone(PendingSend pending) {
            return send(List.of(pending)).get(0);
        }

        private List<Stored> send(List<PendingSend> group) {
            List<NewMessage> messages = group.stream().map(PendingSend::message).toList();
            return call(route.shard(), messages, route.replicaWait(), messages.size() > 1);
        }

        private static void fail(PendingSend pending, StoreUnavailableException e) {
            pending.resume(() -> {
                throw e;
            });
        }

        /** Resumes sends that an error has left out. */
        private static void leaveNobody(List<PendingSend> sends, int from) {
            for (int i = from; i < sends.size(); i++) {
                sends.get(i).resume(PendingSend.FAILS); // has no effect on those that were resumed
            }
        }

        /**
         * Removes a send that has waited for too long; false if it does not wait any more. Later sends do not join this batch, whose
         * leader may have ended.
         */
        boolean withdraw(PendingSend pending) {
            boolean isRemoved = remove(pending);
            if (isRemoved) {
                batches.remove(route, this);
            }
            return isRemoved;
        }

        private synchronized boolean remove(PendingSend pending) {
            boolean isRemoved = waiting.removeIf(each -> each == pending);
            waitingBytes -= isRemoved ? pending.bytes() : 0;
            return isRemoved;
        }

        /** The send waits no longer, because of an error of its thread. */
        void leave(PendingSend pending) {
            if (!pending.resume(PendingSend.FAILS) && pending.next() == PendingSend.LEADS) {
                passLeadership();
            }
        }

        private void passLeadership() {
            PendingSend next = next();
            while (next != null && !next.resume(PendingSend.LEADS)) {
                next = next(); // its thread has left
            }
            if (next == null) {
                batches.computeIfPresent(route, (same, present) -> present == this && isIdle() ? null : present);
            }
        }

        private synchronized @Nullable PendingSend next() {
            underWay--;
            PendingSend next = waiting.poll();
            if (next != null) {
                waitingBytes -= next.bytes();
                underWay++;
            }
            return next;
        }

        /** Whether no call is under way. Then no sender waits, because while one waits another one leads. */
        private synchronized boolean isIdle() {
            return underWay == 0;
        }

        private synchronized List<PendingSend> takeGroup(PendingSend own) {
            // With room for all, so that none is removed and lost if memory is too short for the list.
            List<PendingSend> group = new ArrayList<>(1 + Math.min(waiting.size(), QueueStore.MAX_BATCH));
            group.add(own);
            int bytes = own.bytes();
            while (!waiting.isEmpty() && group.size() < QueueStore.MAX_BATCH && bytes < MOST_BYTES) {
                PendingSend pending = waiting.remove();
                waitingBytes -= pending.bytes();
                bytes += pending.bytes();
                group.add(pending);
            }
            return group;
        }

        private synchronized List<PendingSend> takeAll() {
            List<PendingSend> all = List.copyOf(waiting);
            waiting.clear();
            waitingBytes = 0;
            return all;
        }

        /** Puts sends back before those that wait, because they have waited longest. Those that have failed are left out. */
        private synchronized void goAgain(List<PendingSend> seats) {
            for (int i = seats.size() - 1; i >= 0; i--) {
                PendingSend seat = seats.get(i);
                if (!seat.isResumed()) {
                    waiting.addFirst(seat);
                    waitingBytes += seat.bytes();
                }
            }
        }
    }
}
