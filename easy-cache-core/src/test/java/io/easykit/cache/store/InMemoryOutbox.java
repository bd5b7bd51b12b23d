package io.easykit.cache.store;

import io.easykit.cache.OutboxBacklog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongSupplier;

/** An outbox in a map, with a clock that a test moves. */
public final class InMemoryOutbox implements Outbox {

    private final LongSupplier clock;
    private final Map<String, Row> rows = new LinkedHashMap<>();
    private final List<Row> uncommitted = new ArrayList<>();
    private boolean joinable = true;
    private boolean broken;
    private int queries;
    private int redeliveries;
    private Runnable surprise = () -> {};
    private volatile Runnable beforeAll = () -> {};
    private volatile Runnable beforeAdd = () -> {};
    private volatile Runnable beforeDue = () -> {};

    public InMemoryOutbox(LongSupplier clock) {
        this.clock = clock;
    }

    /** The transactions that follow do not write to this database. */
    public synchronized void notJoinable() {
        joinable = false;
    }

    public synchronized void broken(boolean value) {
        broken = value;
    }

    /** The transaction that messages have joined ends. */
    public synchronized void end(boolean committed) {
        if (committed) {
            uncommitted.forEach(row -> rows.put(row.message.id(), row));
        }
        uncommitted.clear();
    }

    /** Adds a row of another process. */
    public synchronized void put(Message message) {
        rows.put(message.id(), new Row(message, clock.getAsLong(), 0));
    }

    public synchronized int size() {
        return rows.size();
    }

    public synchronized int waiting() {
        return (int) rows.values().stream().filter(row -> !row.delivered).count();
    }

    public synchronized int queries() {
        return queries;
    }

    public synchronized int redeliveries() {
        return redeliveries;
    }

    /** Does something right after the next {@link #redeliver}. */
    public synchronized void onNextRedelivery(Runnable surprise) {
        this.surprise = surprise;
    }

    public synchronized List<String> ids() {
        return List.copyOf(rows.keySet());
    }

    @Override
    public synchronized String id() {
        check();
        return "test";
    }

    /** Does something before each {@link #add}, which may block. */
    public void beforeAdd(Runnable action) {
        beforeAdd = action;
    }

    @Override
    public boolean add(Message message, boolean join, Duration open) {
        beforeAdd.run();
        return added(message, join, open);
    }

    private synchronized boolean added(Message message, boolean join, Duration open) {
        check();
        long now = clock.getAsLong();
        boolean joined = join && joinable;
        if (joined) {
            uncommitted.add(new Row(message, now, 0));
        } else {
            rows.put(message.id(), new Row(message, now, open.isZero() ? 0 : now + open.toMillis()));
        }
        return joined;
    }

    /** Another node may have deleted some. */
    private List<Row> present(Collection<String> messageIds) {
        return messageIds.stream().map(rows::get).filter(Objects::nonNull).toList();
    }

    @Override
    public synchronized void close(Collection<String> messageIds) {
        check();
        present(messageIds).forEach(row -> {
            row.openUntil = 0;
            row.delivered = false;
            row.dueAt = clock.getAsLong();
        });
    }

    /** Does something before each {@link #due}. */
    public void beforeDue(Runnable action) {
        beforeDue = action;
    }

    @Override
    public List<Due> due(String clusterId, int limit) {
        beforeDue.run();
        return dueNow(clusterId, limit);
    }

    private synchronized List<Due> dueNow(String clusterId, int limit) {
        check();
        queries++;
        return rows.values().stream()
                .filter(row -> row.message.clusterId().equals(clusterId) && row.dueAt <= clock.getAsLong())
                .sorted(Comparator.comparingLong(row -> row.dueAt))
                .limit(limit)
                .map(row -> new Due(row.message, state(row)))
                .toList();
    }

    /** Does something before each {@link #all}, which may block. */
    public void beforeAll(Runnable action) {
        beforeAll = action;
    }

    @Override
    public List<Message> all(String clusterId, String after, int limit) {
        beforeAll.run();
        return messagesAfter(clusterId, after, limit);
    }

    private synchronized List<Message> messagesAfter(String clusterId, String after, int limit) {
        check();
        return rows.values().stream()
                .map(row -> row.message)
                .filter(message ->
                        message.clusterId().equals(clusterId) && message.id().compareTo(after) > 0)
                .sorted(Comparator.comparing(Message::id))
                .limit(limit)
                .toList();
    }

    @Override
    public synchronized void delivered(Collection<String> messageIds, Duration retention) {
        check();
        present(messageIds).forEach(row -> {
            row.delivered = true;
            row.dueAt = clock.getAsLong() + retention.toMillis();
        });
    }

    @Override
    public synchronized void postpone(Collection<String> messageIds, Duration delay) {
        check();
        present(messageIds).forEach(row -> row.dueAt = clock.getAsLong() + delay.toMillis());
    }

    @Override
    public synchronized void delete(Collection<String> messageIds) {
        check();
        messageIds.forEach(rows::remove);
    }

    @Override
    public synchronized void redeliver(String clusterId) {
        redeliveries++;
        check();
        queries++;
        rows.values().stream().filter(row -> row.delivered).forEach(row -> {
            row.delivered = false;
            row.dueAt = clock.getAsLong();
        });
        Runnable once = surprise;
        surprise = () -> {};
        once.run();
    }

    @Override
    public synchronized OutboxBacklog backlog(String clusterId) {
        check();
        List<Row> waiting = rows.values().stream().filter(row -> !row.delivered).toList();
        long oldest = waiting.stream().mapToLong(row -> row.writtenAt).min().orElse(clock.getAsLong());
        return new OutboxBacklog(
                waiting.size(), rows.size() - waiting.size(), Duration.ofMillis(clock.getAsLong() - oldest));
    }

    private State state(Row row) {
        if (row.delivered) {
            return State.EXPIRED;
        }
        return row.openUntil > clock.getAsLong() ? State.OPEN : State.WAITING;
    }

    private void check() {
        if (broken) {
            throw new OutboxException("the database is away", null);
        }
    }

    private static final class Row {

        private final Message message;
        private final long writtenAt;
        private long dueAt;
        private long openUntil;
        private boolean delivered;

        Row(Message message, long dueAt, long openUntil) {
            this.message = message;
            this.writtenAt = dueAt;
            this.dueAt = dueAt;
            this.openUntil = openUntil;
        }
    }
}
