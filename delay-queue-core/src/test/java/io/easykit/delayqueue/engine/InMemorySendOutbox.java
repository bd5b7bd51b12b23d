package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.store.SendOutbox;
import io.easykit.delayqueue.store.SendOutboxException;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.Transactions;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** An outbox in memory, as one process sees it. The tables are those of all processes. */
final class InMemorySendOutbox implements SendOutbox {

    private final Tables tables;
    private final Transactions transactions;
    private final List<String> calls = new ArrayList<>();
    Consumer<String> before = call -> {};
    Consumer<String> after = call -> {};

    InMemorySendOutbox(Tables tables, Transactions transactions) {
        this.tables = tables;
        this.transactions = transactions;
    }

    /** The database. */
    static final class Tables {

        final TreeMap<Long, Stored> rows = new TreeMap<>();
        final Map<String, Lease> leases = new HashMap<>();
        final Map<Long, RuntimeException> unreadable = new HashMap<>();
        private final LongSupplier millis;
        private long numbers;

        /** @param millis clock of the database */
        Tables(LongSupplier millis) {
            this.millis = millis;
        }

        void failOverWithoutTheRows() {
            rows.clear();
            numbers = 0;
        }

        List<String> ids() {
            return rows.values().stream().map(row -> row.written.send().id()).toList();
        }
    }

    /** A row. */
    record Stored(String owner, Written written) {}

    /** Rows of a transaction, or of a part of it. */
    private final class Uncommitted implements Transactions.Participant {

        private final Map<Long, Stored> rows = new TreeMap<>();

        @Override
        public void beforeCommit() {}

        @Override
        public void afterCommit() {
            tables.rows.putAll(rows);
        }

        @Override
        public void afterRollback() {}

        @Override
        public void afterUnknownOutcome() {
            afterCommit();
        }
    }

    private Uncommitted transaction() {
        return transactions
                .<Uncommitted>join(this, earlier -> new Uncommitted())
                .orElseThrow(() -> new SendOutboxException("There is no transaction.", null));
    }

    @Override
    public boolean write(String owner, List<Written> rows) {
        call("write");
        rows.forEach(row -> transaction().rows.put(++tables.numbers, new Stored(owner, row)));
        return true;
    }

    @Override
    public int withdraw(String owner, Collection<Long> nonces) {
        call("withdraw");
        Map<Long, Stored> rows = transaction().rows;
        int before = rows.size();
        rows.values().removeIf(row -> nonces.contains(row.written.send().nonce()));
        return before - rows.size();
    }

    @Override
    public List<Row> rows(String owner, long after, Set<String> except, int limit) {
        call("rows");
        List<Row> rows = new ArrayList<>();
        tables.rows.tailMap(after, false).forEach((number, row) -> {
            Send send = row.written.send();
            if (row.owner.equals(owner) && !except.contains(send.topic()) && rows.size() < limit) {
                rows.add(new Row(number, send, row.written.frame().length(), tables.unreadable.get(number)));
            }
        });
        return rows;
    }

    @Override
    public Map<RowId, Bytes> frames(Collection<RowId> rows) {
        call("frames");
        Map<RowId, Bytes> frames = new HashMap<>();
        for (RowId row : rows) {
            Stored found = tables.rows.get(row.number());
            if (found != null && isNamed(found, row)) {
                frames.put(row, found.written.frame());
            }
        }
        done("frames");
        return frames;
    }

    @Override
    public void delete(Collection<RowId> rows) {
        call("delete");
        rows.forEach(row ->
                tables.rows.computeIfPresent(row.number(), (number, found) -> isNamed(found, row) ? null : found));
        done("delete");
    }

    private static boolean isNamed(Stored found, RowId row) {
        return found.written.send().nonce() == row.nonce();
    }

    @Override
    public List<Owner> owners() {
        call("owners");
        return Stream.concat(tables.rows.values().stream().map(Stored::owner), tables.leases.keySet().stream())
                .distinct()
                .map(owner -> new Owner(owner, tables.leases.get(owner)))
                .toList();
    }

    @Override
    public boolean take(String owner, String holder, @Nullable Lease seen) {
        call("take");
        if (!Objects.equals(tables.leases.get(owner), seen)) {
            return false;
        }
        tables.leases.put(owner, new Lease(holder, seen == null ? 0 : seen.renewals() + 1));
        return true;
    }

    @Override
    public boolean renew(String owner, String holder) {
        call("renew");
        Lease lease = tables.leases.get(owner);
        if (lease == null || !lease.holder().equals(holder)) {
            return false;
        }
        tables.leases.put(owner, new Lease(holder, lease.renewals() + 1));
        return true;
    }

    @Override
    public void release(String owner, String holder) {
        call("release");
        tables.leases.computeIfPresent(owner, (name, lease) -> lease.holder().equals(holder) ? null : lease);
    }

    @Override
    public long millis() {
        call("millis");
        return tables.millis.getAsLong();
    }

    @Override
    public Backlog backlog() {
        call("backlog");
        return new Backlog(
                tables.rows.size(),
                tables.rows.values().stream()
                        .mapToLong(row -> row.written.send().sentAt())
                        .min()
                        .orElse(0));
    }

    /** Returns the names of the calls so far, and forgets them. */
    List<String> takeCalls() {
        List<String> taken = List.copyOf(calls);
        calls.clear();
        return taken;
    }

    void away() {
        before = call -> {
            throw new SendOutboxException("The database does not answer.", null);
        };
    }

    void heal() {
        before = call -> {};
        after = call -> {};
    }

    private void call(String name) {
        calls.add(name);
        before.accept(name);
    }

    private void done(String name) {
        after.accept(name);
    }
}
