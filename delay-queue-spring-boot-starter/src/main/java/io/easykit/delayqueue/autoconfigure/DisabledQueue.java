package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.admin.ActionLog;
import io.easykit.delayqueue.admin.Replacement;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.store.Browsed;
import io.easykit.delayqueue.store.DeadLetterErrors;
import io.easykit.delayqueue.store.FleetStore;
import io.easykit.delayqueue.store.JobStore;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.Replicated;
import io.easykit.delayqueue.store.ShardCount;
import io.easykit.delayqueue.store.StoppedKeys;
import io.easykit.delayqueue.store.Subscription;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The store of a disabled delay queue. Calls fail, or do nothing and report success. */
final class DisabledQueue implements InvocationHandler {

    /** Result of calls. */
    enum Calls {
        FAIL,
        IGNORE
    }

    private final Calls calls;
    private final JobStore jobs = new IgnoredJobs();

    private DisabledQueue(Calls calls) {
        this.calls = calls;
    }

    static QueueBackend store(Calls calls) {
        return (QueueBackend) Proxy.newProxyInstance(
                QueueBackend.class.getClassLoader(), new Class<?>[] {QueueBackend.class}, new DisabledQueue(calls));
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) {
        return switch (method.getName()) {
            // Called before each operation, which then fails or is ignored.
            case "declare" -> arguments[1];
            case "declared" -> ShardCount.NONE;
            case "fleet" -> FleetStore.NONE;
            case "actions" -> ActionLog.NONE;
            case "subscribe" -> (Subscription) () -> {};
            case "toString" -> "a disabled delay queue";
            case "hashCode" -> System.identityHashCode(proxy);
            case "equals" -> proxy == arguments[0];
            default -> ignored(method, arguments);
        };
    }

    private Object ignored(Method method, Object[] arguments) {
        if (calls == Calls.FAIL) {
            throw new DelayQueueDisabledException();
        }
        return switch (method.getName()) {
            case "send" -> Collections.nCopies(((List<?>) arguments[1]).size(), SendOutcome.STORED);
            case "sendReplicated" ->
                new Replicated(
                        Collections.nCopies(((List<?>) arguments[1]).size(), SendOutcome.STORED),
                        ((ReplicaWait) arguments[2]).replicas());
            case "cancel", "reschedule" -> Collections.nCopies(((List<?>) arguments[1]).size(), ChangeOutcome.GONE);
            case "grow" -> ShardCount.of((Integer) arguments[1]);
            case "find", "read" -> Optional.empty();
            case "redrive" -> Collections.nCopies(((List<?>) arguments[1]).size(), false);
            case "purge" ->
                method.getReturnType() == int.class
                        ? (Object) 0
                        : Collections.nCopies(((List<?>) arguments[1]).size(), false);
            case "replace" -> Replacement.Outcome.NOT_DEAD;
            case "stoppedKeys" -> new StoppedKeys("", List.of());
            case "pause", "resume", "freeKey" -> false;
            case "jobs" -> jobs;
            case "browse" -> new Browsed(0, 0, List.of());
            case "errors" -> new DeadLetterErrors(0, List.of());
            case "stats" ->
                new ShardStats(
                        Instant.EPOCH,
                        null,
                        0,
                        0,
                        0,
                        0,
                        null,
                        Set.of(),
                        new ShardStats.Counters(0, 0, 0, 0, 0, 0, 0, 0));
            default -> throw new DelayQueueDisabledException();
        };
    }
}
