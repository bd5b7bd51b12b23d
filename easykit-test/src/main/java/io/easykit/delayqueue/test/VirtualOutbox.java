package io.easykit.delayqueue.test;

import io.easykit.delayqueue.store.SendOutbox;
import io.easykit.delayqueue.store.SendOutboxException;
import io.easykit.delayqueue.support.Bytes;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * An outbox in virtual time. Its rows lie in the application's database. The database's clock is replaced by that of the test, so
 * delays are exact. No lease is read or written: rows of other processes that use the same tables are left to them, because in
 * virtual time their leases would soon look as if they were no longer renewed.
 */
final class VirtualOutbox implements SendOutbox {

    private final SendOutbox rows;
    private final LongSupplier millis;

    /** Owners that may have rows since the last {@link #clear}. */
    private final Set<String> writers = ConcurrentHashMap.newKeySet();

    /** @param millis a clock that only moves forward, so that it can be estimated between two readings */
    VirtualOutbox(SendOutbox rows, LongSupplier millis) {
        this.rows = rows;
        this.millis = millis;
    }

    @Override
    public long millis() {
        return millis.getAsLong();
    }

    @Override
    public boolean write(String owner, List<Written> written) {
        writers.add(owner);
        return rows.write(owner, written.stream().map(VirtualOutbox::exact).toList());
    }

    /** Takes off the millisecond that a send adds to its delay because a database's clock rounds down. */
    private static Written exact(Written row) {
        Send send = row.send();
        boolean isLonger = send.isDelay() && send.dueAt() > send.sentAt();
        Send exact = new Send(
                send.topic(),
                send.id(),
                send.nonce(),
                isLonger ? send.dueAt() - 1 : send.dueAt(),
                send.isDelay(),
                send.sentAt(),
                send.replicaWait());
        return new Written(exact, row.frame());
    }

    /** Deletes the committed rows of this process. If the database fails, the next call tries again. */
    void clear() {
        writers.removeIf(this::isCleared);
    }

    private boolean isCleared(String owner) {
        try {
            List<Row> found = rows.rows(owner, 0, Set.of(), MAX_ROWS);
            while (!found.isEmpty()) {
                rows.delete(found.stream().map(Row::id).toList());
                found = rows.rows(owner, 0, Set.of(), MAX_ROWS);
            }
            return true;
        } catch (SendOutboxException away) {
            return false;
        }
    }

    @Override
    public int withdraw(String owner, Collection<Long> nonces) {
        return rows.withdraw(owner, nonces);
    }

    @Override
    public List<Row> rows(String owner, long after, Set<String> except, int limit) {
        return rows.rows(owner, after, except, limit);
    }

    @Override
    public Map<RowId, Bytes> frames(Collection<RowId> ids) {
        return rows.frames(ids);
    }

    @Override
    public void delete(Collection<RowId> ids) {
        rows.delete(ids);
    }

    @Override
    public Backlog backlog() {
        return rows.backlog();
    }

    @Override
    public List<Owner> owners() {
        return List.of();
    }

    @Override
    public boolean take(String owner, String holder, @Nullable Lease seen) {
        return true;
    }

    @Override
    public boolean renew(String owner, String holder) {
        return true;
    }

    @Override
    public void release(String owner, String holder) {}
}
