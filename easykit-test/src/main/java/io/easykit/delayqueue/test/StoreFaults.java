package io.easykit.delayqueue.test;

import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.store.Claim;
import io.easykit.delayqueue.store.Claimed;
import io.easykit.delayqueue.store.Lease;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.Replicated;
import io.easykit.delayqueue.store.Settlement;
import io.easykit.delayqueue.store.ShardKey;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Faults of the store and of processes. Each one lasts until it has happened, or until {@link #heal}.
 *
 * <p>A fault that loses a process takes its messages with it: their leases run on. Advance the time by the lease to see them
 * delivered again.
 */
public final class StoreFaults {

    private static final Set<String> WITHOUT_CALL = Set.of("fleet", "jobs", "actions", "subscribe");

    private final QueueBackend store;
    private final Runnable beforeCall;
    private final ClaimedLeases leases;
    private volatile boolean away;
    private volatile int replicas = Integer.MAX_VALUE;
    private boolean losesReply;
    private boolean crashesBeforeHandler;
    private boolean crashesAfterHandler;

    /** The latest call with each message. */
    private final Map<Handled, Set<Handled>> calls = new HashMap<>();

    /** Messages whose acknowledgement ends with its process. */
    private final Set<Handled> unacknowledged = new HashSet<>();

    private final ThreadLocal<Boolean> past = ThreadLocal.withInitial(() -> false);

    private record Handled(String topic, String id) {}

    /** @param beforeCall runs before calls of the store, on their threads. It may call the store itself */
    StoreFaults(QueueBackend store, Runnable beforeCall, ClaimedLeases leases) {
        this.store = store;
        this.beforeCall = beforeCall;
        this.leases = leases;
    }

    /** The store cannot be reached until {@link #heal}: calls are not carried out. Assertions still read it. */
    public void storeAway() {
        away = true;
    }

    /**
     * The store carries out the next send and its reply is lost. The caller gets a {@link StoreUnavailableException}, unless
     * the send has a timeout in which it is repeated.
     */
    public synchronized void loseReplyOfNextSend() {
        losesReply = true;
    }

    /**
     * At most so many replicas confirm messages until {@link #heal}. The messages are stored. Without this fault as many confirm
     * as a send waits for. The send does not wait in virtual time.
     *
     * @throws IllegalArgumentException if the number is negative
     */
    public void replicas(int confirming) {
        if (confirming < 0) {
            throw new IllegalArgumentException(
                    "There are no " + confirming + " replicas. Give 0 or the number that confirms.");
        }
        replicas = confirming;
    }

    /**
     * The process dies after it has claimed the next message and before its handler begins. The message is delivered again
     * after its lease.
     */
    public synchronized void crashBeforeNextHandler() {
        crashesBeforeHandler = true;
    }

    /**
     * The process dies after the next handler has returned and before the acknowledgement. The message, or all messages of a
     * batch, are delivered a second time after the lease.
     */
    public synchronized void crashAfterNextHandler() {
        crashesAfterHandler = true;
    }

    /** Ends all faults. */
    public synchronized void heal() {
        away = false;
        replicas = Integer.MAX_VALUE;
        losesReply = false;
        crashesBeforeHandler = false;
        crashesAfterHandler = false;
        calls.clear();
        unacknowledged.clear();
    }

    /** Called before a handler with its messages. */
    synchronized void begins(List<DelayMessage<Object>> messages) {
        Set<Handled> call = messages.stream()
                .map(message -> new Handled(message.topic(), message.id()))
                .collect(Collectors.toSet());
        call.forEach(message -> calls.put(message, call));
        unacknowledged.removeAll(call);
    }

    /** An admin for assertions, which reads on the calling thread and meets no faults. */
    DelayQueueAdmin readPast(DelayQueueAdmin admin) {
        return (DelayQueueAdmin) Proxy.newProxyInstance(
                DelayQueueAdmin.class.getClassLoader(),
                new Class<?>[] {DelayQueueAdmin.class},
                (proxy, method, arguments) -> {
                    beforeCall.run(); // meets the faults
                    past.set(true);
                    try {
                        return invoke(admin, method, arguments);
                    } finally {
                        past.remove();
                    }
                });
    }

    /** The store with these faults. */
    QueueBackend faultyStore() {
        return (QueueBackend) Proxy.newProxyInstance(
                QueueBackend.class.getClassLoader(),
                new Class<?>[] {QueueBackend.class},
                (proxy, method, arguments) -> call(method, arguments));
    }

    private Object call(Method method, Object[] arguments) throws Throwable {
        boolean isOfTheStore = method.getDeclaringClass() != Object.class && !WITHOUT_CALL.contains(method.getName());
        if (isOfTheStore && !past.get()) {
            beforeCall.run();
        }
        if (away && isOfTheStore && !past.get()) {
            throw StoreUnavailableException.notCarriedOut(
                    "The store is away: StoreFaults.storeAway() was called. Call heal() to end it.",
                    new IllegalStateException(method.getName()));
        }
        if (isOfTheStore && method.getName().equals("claim")) {
            return claim((ShardKey) arguments[0], (Claim) arguments[1]);
        }
        if (isOfTheStore && method.getName().equals("acknowledge")) {
            return acknowledge((ShardKey) arguments[0], leases(arguments[1]));
        }
        Object reply = invoke(store, method, arguments);
        if (isOfTheStore && method.getName().startsWith("send")) {
            loseReply();
        }
        return reply instanceof Replicated sent ? confirmed(sent, arguments) : reply;
    }

    /** The store in memory has no replicas. */
    private Replicated confirmed(Replicated sent, Object[] arguments) {
        ReplicaWait wait = (ReplicaWait) arguments[2];
        return new Replicated(sent.outcomes(), Math.min(wait.replicas(), replicas));
    }

    private static Object invoke(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    @SuppressWarnings("unchecked") // the only parameter of this method that is a list
    private static List<Lease> leases(Object argument) {
        return (List<Lease>) argument;
    }

    private synchronized void loseReply() {
        if (losesReply) {
            losesReply = false;
            throw new StoreUnavailableException(
                    "The reply was lost: StoreFaults.loseReplyOfNextSend() was called.",
                    new IllegalStateException("the messages are stored"));
        }
    }

    private synchronized Claimed claim(ShardKey shard, Claim claim) {
        List<Settlement> acknowledged = acknowledge(shard, claim.acknowledged());
        Claimed claimed = store.claim(
                shard,
                new Claim(
                        claim.owner(),
                        claim.request(),
                        crashesBeforeHandler ? 1 : claim.count(),
                        crashesBeforeHandler ? Math.min(1, claim.besideLost()) : claim.besideLost(),
                        claim.lease(),
                        claim.bytes(),
                        claim.limits(),
                        List.of(),
                        claim.borrowed()));
        if (!claimed.deliveries().isEmpty()) {
            leases.claimed(shard, claim.lease());
        }
        boolean crashes = crashesBeforeHandler && !claimed.deliveries().isEmpty();
        crashesBeforeHandler &= !crashes;
        return new Claimed(
                claimed.now(),
                claimed.status(),
                claimed.nextDue(),
                claimed.nextLeaseEnd(),
                acknowledged,
                crashes ? List.of() : claimed.deliveries());
    }

    /** An acknowledgement that is dropped counts as applied, as the process that would notice is dead. */
    private synchronized List<Settlement> acknowledge(ShardKey shard, List<Lease> leases) {
        if (crashesAfterHandler && !leases.isEmpty()) {
            crashesAfterHandler = false;
            Handled first = handled(shard, leases.get(0));
            unacknowledged.addAll(calls.getOrDefault(first, Set.of(first)));
        }
        List<Settlement> settlements = new ArrayList<>();
        for (Lease lease : leases) {
            boolean isDropped = unacknowledged.remove(handled(shard, lease));
            settlements.add(
                    isDropped
                            ? Settlement.APPLIED
                            : store.acknowledge(shard, List.of(lease)).get(0));
        }
        return settlements;
    }

    private static Handled handled(ShardKey shard, Lease lease) {
        return new Handled(shard.topic(), lease.id());
    }
}
