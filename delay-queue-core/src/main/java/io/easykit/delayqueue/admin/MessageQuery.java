package io.easykit.delayqueue.admin;

import io.easykit.delayqueue.MessageInfo.State;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Selects one page of the messages of a topic. Immutable; each method returns a changed copy. */
public final class MessageQuery {

    /** Page size unless given. */
    public static final int DEFAULT_SIZE = 50;

    private final State state;
    private final boolean newestFirst;
    private final int size;
    private final @Nullable String after;
    private final @Nullable Integer shard;

    private MessageQuery(State state, boolean newestFirst, int size, @Nullable String after, @Nullable Integer shard) {
        this.state = state;
        this.newestFirst = newestFirst;
        this.size = size;
        this.after = after;
        this.shard = shard;
    }

    /** The first page of the messages in this state: the soonest due, the soonest end of a lease, or the oldest death first. */
    public static MessageQuery of(State state) {
        Objects.requireNonNull(state, "A query without a state: give one.");
        return new MessageQuery(state, false, DEFAULT_SIZE, null, null);
    }

    /** The first page of the dead letters, the oldest first. */
    public static MessageQuery dead() {
        return of(State.DEAD);
    }

    /** The first page of the messages that wait, the soonest due first. Their number is {@link MessagePage#total}. */
    public static MessageQuery waiting() {
        return of(State.WAITING);
    }

    /** In the opposite order: the latest first. */
    public MessageQuery newestFirst() {
        return new MessageQuery(state, true, size, after, shard);
    }

    /**
     * Limits the page to so many messages.
     *
     * @param count 1 to {@link DelayQueueAdmin#MAX_PAGE}
     */
    public MessageQuery size(int count) {
        if (count < 1 || count > DelayQueueAdmin.MAX_PAGE) {
            throw new IllegalArgumentException(
                    "A page of " + count + " messages is not possible: give 1 to " + DelayQueueAdmin.MAX_PAGE + ".");
        }
        return new MessageQuery(state, newestFirst, count, after, shard);
    }

    /**
     * Continues where an earlier page of the same state and order ended.
     *
     * @param cursor {@link MessagePage#next} of that page; null for the first page
     */
    public MessageQuery after(@Nullable String cursor) {
        return new MessageQuery(state, newestFirst, size, cursor, shard);
    }

    /** Limits the page to one shard of the topic, from 0. */
    public MessageQuery shard(int number) {
        return new MessageQuery(state, newestFirst, size, after, number);
    }

    public State state() {
        return state;
    }

    public boolean isNewestFirst() {
        return newestFirst;
    }

    public int size() {
        return size;
    }

    public @Nullable String after() {
        return after;
    }

    /** The only shard of the page, or null for all of them. */
    public @Nullable Integer shard() {
        return shard;
    }

    @Override
    public String toString() {
        return "MessageQuery[state=" + state + ", newestFirst=" + newestFirst + ", size=" + size + ", after=" + after
                + ", shard=" + shard + "]";
    }
}
