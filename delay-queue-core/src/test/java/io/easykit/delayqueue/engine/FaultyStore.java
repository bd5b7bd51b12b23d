package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.StoreFullException;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.store.FleetStore;
import io.easykit.delayqueue.store.JobStore;
import io.easykit.delayqueue.store.NewMessage;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.Subscription;
import io.easykit.delayqueue.store.WakeupListener;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** A store behind a line that loses requests and replies, and on which a process may die. */
final class FaultyStore {

    /** What happens to a call. */
    enum Fault {
        NONE,
        LOST_REQUEST,
        /** The store answers that it will not do it. */
        REFUSED,
        /** The store has no memory left. */
        FULL,
        /** The driver does not send it: there is no connection. */
        REJECTED,
        /** The driver needs a thread for it, and gets none. */
        NO_THREAD,
        LOST_REPLY,
        KILLED_BEFORE,
        KILLED_AFTER
    }

    private final List<String> calls = new ArrayList<>();
    private final QueueBackend behind;
    private Function<String, Fault> plan = method -> Fault.NONE;
    private BiFunction<String, ShardKey, Fault> shardPlan = (method, shard) -> Fault.NONE;
    private final List<Runnable> subscriptions = new ArrayList<>();
    private boolean deaf;
    private Supplier<Duration> sinceProof = () -> Subscription.UNPROVEN;
    private String refused = "";
    private UnaryOperator<@Nullable Object> replies = UnaryOperator.identity();

    FaultyStore(QueueBackend behind) {
        this.behind = behind;
    }

    /** Decides by the name of the method what happens to the next calls. */
    void plan(Function<String, Fault> faults) {
        plan = faults;
    }

    /** Decides by the shard. */
    void planByShard(Function<ShardKey, Fault> faults) {
        shardPlan = (method, shard) -> faults.apply(shard);
    }

    /** Decides by the name of the method and the shard. */
    void planCall(BiFunction<String, ShardKey, Fault> faults) {
        shardPlan = faults;
    }

    /** The next call of this method has this fault, all others none. */
    void once(String method, Fault fault) {
        boolean[] done = new boolean[1];
        plan = name -> {
            if (done[0] || !name.equals(method)) {
                return Fault.NONE;
            }
            done[0] = true;
            return fault;
        };
    }

    void heal() {
        plan = method -> Fault.NONE;
    }

    void away() {
        plan = method -> Fault.LOST_REQUEST;
    }

    /** No connection: calls fail at once, and are surely not carried out. */
    void disconnect() {
        plan = method -> Fault.REJECTED;
    }

    /** Lets each call wait so long in vain. */
    void hang(SimulatedTime time, Duration timeout) {
        plan = method -> {
            time.advance(timeout);
            return Fault.LOST_REQUEST;
        };
    }

    /** Refuses sends with the message of this id. */
    void refuse(String id) {
        refused = id;
    }

    /** Changes the replies. */
    void changeReplies(UnaryOperator<@Nullable Object> change) {
        replies = change;
    }

    private boolean isRefused(Object @Nullable [] arguments) {
        return arguments != null
                && arguments.length > 1
                && arguments[1] instanceof List<?> messages
                && messages.stream()
                        .anyMatch(one -> one instanceof NewMessage message
                                && message.id().equals(refused));
    }

    /** Loses all wakeups from now on. */
    void cutWakeups() {
        deaf = true;
    }

    /** The connection of the subscriptions has been replaced: a wakeup may have been lost, so consumers claim at once. */
    void resubscribe() {
        subscriptions.forEach(Runnable::run);
    }

    /** From now on subscriptions prove that wakeups arrive, until they last did so this long ago. */
    void proveWakeups(Supplier<Duration> sinceProof) {
        this.sinceProof = sinceProof;
    }

    /** Returns the names of the calls so far, and forgets them. */
    List<String> takeCalls() {
        synchronized (calls) {
            List<String> taken = List.copyOf(calls);
            calls.clear();
            return taken;
        }
    }

    QueueBackend asStore() {
        return behindTheLine(QueueBackend.class, behind);
    }

    private <T> T behindTheLine(Class<T> type, T store) {
        return type.cast(
                Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    String name = method.getName();
                    if (name.equals("fleet")) {
                        return behindTheLine(FleetStore.class, behind.fleet());
                    }
                    if (name.equals("jobs")) {
                        return behindTheLine(JobStore.class, behind.jobs());
                    }
                    Fault ofShard = arguments != null && arguments[0] instanceof ShardKey shard
                            ? shardPlan.apply(name, shard)
                            : Fault.NONE;
                    Fault fault = ofShard == Fault.NONE ? plan.apply(name) : ofShard;
                    synchronized (calls) {
                        calls.add(name);
                    }
                    if (fault == Fault.LOST_REQUEST) {
                        throw new StoreUnavailableException("request lost", new IllegalStateException(name));
                    }
                    if (fault == Fault.REJECTED) {
                        throw StoreUnavailableException.notCarriedOut(
                                "Currently not connected", new IllegalStateException(name));
                    }
                    if (fault == Fault.REFUSED || isRefused(arguments)) {
                        throw new StoreRefusedException("refused " + name, new IllegalStateException(name));
                    }
                    if (fault == Fault.FULL) {
                        throw new StoreFullException("full: " + name, new IllegalStateException(name));
                    }
                    if (fault == Fault.NO_THREAD) {
                        // An OutOfMemoryError would end the JVM of the tests.
                        throw new Error("unable to create native thread");
                    }
                    if (fault == Fault.KILLED_BEFORE) {
                        throw new SimulatedTime.Killed();
                    }
                    if (name.equals("subscribe")) {
                        WakeupListener listener = (WakeupListener) arguments[1];
                        arguments[1] = (WakeupListener) (shard, due) -> {
                            if (!deaf) {
                                listener.onEarlierDue(shard, due);
                            }
                        };
                        ((Collection<?>) arguments[0])
                                .forEach(shard -> subscriptions.add(
                                        () -> listener.onEarlierDue((ShardKey) shard, Instant.EPOCH)));
                    }
                    Object reply;
                    try {
                        reply = method.invoke(store, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                    if (fault == Fault.LOST_REPLY) {
                        throw new StoreUnavailableException("reply lost", new IllegalStateException(name));
                    }
                    if (fault == Fault.KILLED_AFTER) {
                        throw new SimulatedTime.Killed();
                    }
                    return reply instanceof Subscription subscription ? proven(subscription) : replies.apply(reply);
                }));
    }

    private Subscription proven(Subscription subscription) {
        return new Subscription() {
            @Override
            public void close() {
                subscription.close();
            }

            @Override
            public Duration sinceProof() {
                return sinceProof.get();
            }
        };
    }
}
