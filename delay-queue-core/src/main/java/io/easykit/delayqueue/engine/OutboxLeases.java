package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.store.SendOutbox;
import io.easykit.delayqueue.store.SendOutbox.Lease;
import io.easykit.delayqueue.store.SendOutbox.Owner;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes, renews and releases the leases of this process in the outbox: its own, and those of processes that have died. Only the
 * holder of the lease of an owner stores its rows, one holder at a time. So they are stored in order, and once.
 *
 * <p><b>Renewal.</b> A process renews its leases six times in the duration of a lease. A holder stores only within half a lease of
 * its last renewal, so a call that begins in time has the other half to end.
 *
 * <p><b>Taking over.</b> Process B takes the lease of process A if nobody holds it, or if B has seen it unchanged for its whole
 * duration. From then on B stores the rows of A. Both could store the same rows only if A pauses for more than half a lease between
 * its check and the call, or if a holder passes the lease on while a call of it has no reply.
 *
 * <p><b>Return.</b> If A still runs, it goes on writing rows. B stores them until there are none, and releases the lease; then A
 * takes it back. The lease of a process that was killed is removed in the same way, also if it has left no rows.
 *
 * <p><b>Passing on.</b> B can renew leases while its own line to Redis is away, or Redis refuses B only. If rows are there, and B has
 * stored none of them for the duration of a lease, it releases the lease and declines it for a while, so that a third process takes
 * it. It takes a declined lease again if it sees it free for two intervals. A process that knows no other one keeps the lease.
 */
final class OutboxLeases {

    private static final Logger log = LoggerFactory.getLogger(OutboxLeases.class);

    /** Durations of a lease for which this process leaves an owner to others. Each of so many others gets its turn. */
    private static final int DECLINED_FOR = 10;

    private final SendOutbox outbox;
    private final String name;
    private final long lease;
    private final LongSupplier nanos;
    private final Map<String, Long> renewedAt = new HashMap<>();
    private final Map<String, Seen> others = new HashMap<>();

    /** When a row of each owner was stored last, or its lease was taken. */
    private final Map<String, Long> storedAt = new HashMap<>();

    private final Map<String, Long> declinedAt = new HashMap<>();
    private boolean hasOthers;
    private long roundAt;
    private long lookAt;

    /**
     * @param name  of this process
     * @param nanos a clock that only moves forward
     */
    OutboxLeases(SendOutbox outbox, String name, Duration lease, LongSupplier nanos) {
        this.outbox = outbox;
        this.name = name;
        this.lease = lease.toNanos();
        this.nanos = nanos;
        this.roundAt = nanos.getAsLong();
        this.lookAt = roundAt;
    }

    /**
     * @param lease null if nobody holds it
     * @param since time after the read
     */
    private record Seen(@Nullable Lease lease, long since) {}

    /** Interval of renewals, and of checks for the leases and rows of others. */
    long interval() {
        return lease / 6;
    }

    /** Renews the leases, and takes the own one, if it is time to; else returns false. */
    boolean renew() {
        long begin = nanos.getAsLong();
        if (begin - roundAt < 0) {
            return false;
        }
        held().forEach(this::renew);
        if (!renewedAt.containsKey(name)) {
            take(name, null);
        }
        roundAt = begin + interval();
        return true;
    }

    /**
     * Takes the free leases of owners, if it is time to; else returns false. After a failure it waits for the time
     * of a lease.
     */
    boolean takeFree() {
        long begin = nanos.getAsLong();
        if (begin - lookAt < 0) {
            return false;
        }
        lookAt = begin + lease;
        hasOthers = false;
        List<Owner> owners = outbox.owners();
        long end = nanos.getAsLong();
        List<String> names = owners.stream().map(Owner::name).toList();
        others.keySet().retainAll(names);
        declinedAt.keySet().retainAll(names);
        hasOthers = owners.stream().map(Owner::lease).anyMatch(held -> held != null && !isOwn(held.holder()));
        owners.stream().filter(owner -> !renewedAt.containsKey(owner.name())).forEach(owner -> look(owner, begin, end));
        lookAt = begin + interval();
        return true;
    }

    String name() {
        return name;
    }

    /** A lease was unchanged between the end of one read and the begin of another one. A read may wait for a connection. */
    private void look(Owner owner, long begin, long end) {
        Lease held = owner.lease();
        if (held != null && held.holder().equals(owner.name())) {
            // It stores its rows itself again.
            declinedAt.remove(owner.name());
        }
        Long declined = declinedAt.get(owner.name());
        if (held == null && (declined == null || begin - declined >= DECLINED_FOR * lease)) {
            takeOver(owner);
        } else if (held != null && isOwn(held.holder())) {
            // An earlier call without a reply has taken this lease, or has not released it.
            renew(owner.name());
        } else {
            Seen seen = others.get(owner.name());
            if (seen == null || !Objects.equals(seen.lease, held)) {
                others.put(owner.name(), new Seen(held, end));
            } else if (begin - seen.since >= (held == null ? 2 * interval() : lease)) {
                takeOver(owner);
            }
        }
    }

    private void takeOver(Owner owner) {
        if (take(owner.name(), owner.lease()) && !declinedAt.containsKey(owner.name())) {
            log.info(
                    "Process {} does not renew its lease of the outbox any more. This process stores the messages that"
                            + " it may have left there",
                    owner.name());
        }
    }

    private boolean take(String owner, @Nullable Lease seen) {
        long begin = nanos.getAsLong();
        boolean taken = outbox.take(owner, name, seen);
        keep(owner, begin, taken);
        return taken;
    }

    private void renew(String owner) {
        long begin = nanos.getAsLong();
        keep(owner, begin, outbox.renew(owner, name));
    }

    /** @param since time before the call: from then on others see the lease unchanged */
    private void keep(String owner, long since, boolean held) {
        if (held) {
            renewedAt.put(owner, since);
            storedAt.putIfAbsent(owner, since);
            others.remove(owner);
        } else {
            renewedAt.remove(owner);
            storedAt.remove(owner);
        }
    }

    /** The owners whose rows this process may store, itself first. */
    List<String> held() {
        return renewedAt.keySet().stream()
                .sorted(Comparator.comparing(owner -> !isOwn(owner)))
                .toList();
    }

    /** Whether a call for the rows of this owner may begin now. */
    boolean mayStore(String owner) {
        Long since = renewedAt.get(owner);
        return since != null && nanos.getAsLong() - since < lease / 2;
    }

    boolean isOwn(String owner) {
        return owner.equals(name);
    }

    void release(String owner) {
        renewedAt.remove(owner);
        storedAt.remove(owner);
        outbox.release(owner, name);
    }

    /** A row of this owner has been stored. */
    void hasStored(String owner) {
        storedAt.computeIfPresent(owner, (held, before) -> nanos.getAsLong());
        declinedAt.remove(owner);
    }

    /**
     * Releases the lease of an owner with rows if this process has stored none of them for too long, and there are others; else
     * returns false.
     */
    boolean passOnIfStuck(String owner) {
        long now = nanos.getAsLong();
        if (!hasOthers || now - storedAt.getOrDefault(owner, now) < lease) {
            return false;
        }
        if (declinedAt.put(owner, now) == null) {
            log.info(
                    "This process cannot store the messages that process {} has left in the outbox. Another process may"
                            + " take them over",
                    owner);
        }
        release(owner);
        return true;
    }

    /** At the end of this process: others need not wait until the leases are over. */
    void releaseAll() {
        roundAt = nanos.getAsLong();
        lookAt = roundAt;
        held().forEach(this::release);
    }
}
