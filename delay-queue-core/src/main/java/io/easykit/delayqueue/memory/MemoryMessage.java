package io.easykit.delayqueue.memory;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.easykit.delayqueue.MessageInfo.ErrorNote;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.store.Delivery;
import io.easykit.delayqueue.store.Position;
import io.easykit.delayqueue.store.StoredMessage;
import io.easykit.delayqueue.store.StoredMessage.History;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.NameRules;
import java.time.Instant;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** One live message. The store that holds it guards it by its lock. */
final class MemoryMessage {

    private static final int MOST_ERROR_BYTES = 4096;
    private static final long PARKED = 1L << 52;

    final String id;

    Bytes frame;

    private final Places places;
    private State place = State.WAITING;
    private long at;
    private boolean announced;
    private boolean parked;

    @Nullable Past past;

    @Nullable ErrorNote first;

    @Nullable ErrorNote last;

    /** A message that waits. */
    MemoryMessage(String id, Bytes frame, long at, Places places) {
        this.id = id;
        this.frame = frame;
        this.at = at;
        this.places = places;
        places.of(place).add(this);
    }

    /** The messages of a shard by place, each in the order of their time. */
    static final class Places {

        private static final Comparator<MemoryMessage> BY_TIME = Comparator.comparing((MemoryMessage m) -> m.parked)
                .thenComparingLong(m -> m.at)
                .thenComparing(m -> m.announced)
                .thenComparing(m -> m.id);

        private final Map<State, NavigableSet<MemoryMessage>> byState = new EnumMap<>(State.class);

        NavigableSet<MemoryMessage> of(State place) {
            return byState.computeIfAbsent(place, state -> new TreeSet<>(BY_TIME));
        }
    }

    /** What happened to a message that was handed out at least once. */
    static final class Past {
        long number;
        int failures;
        int lost;
        int releases;
        long due;
        String owner = "";

        History history() {
            return new History(number, failures, lost, releases, Instant.ofEpochMilli(due), owner);
        }
    }

    boolean isHeldUnder(long number) {
        return place == State.IN_FLIGHT && past != null && past.number == number;
    }

    boolean hasLostALease() {
        return past != null && past.lost > 0;
    }

    Past past() {
        if (past == null) {
            past = new Past();
        }
        return past;
    }

    State place() {
        return place;
    }

    /** Due time, end of the lease or time of death, in milliseconds since the epoch. */
    long at() {
        return at;
    }

    /** Whether the death is marked as announced. */
    boolean isAnnounced() {
        return announced;
    }

    /** Whether it waits behind another one of its ordering key. */
    boolean isParked() {
        return parked;
    }

    @Nullable String orderingKey() {
        return NameRules.orderingKey(id);
    }

    void park(boolean isParked) {
        leave();
        parked = isParked;
        places.of(place).add(this);
    }

    void move(State to, long when) {
        change(to, when, false);
    }

    /** Changes the due time or the end of the lease. */
    void setTime(long when) {
        change(place, when, announced);
    }

    void announce() {
        change(place, at, true);
    }

    private void change(State to, long when, boolean isAnnounced) {
        leave();
        place = to;
        at = when;
        announced = isAnnounced;
        parked = false;
        places.of(to).add(this);
    }

    /** Removes it from its place. */
    void leave() {
        places.of(place).remove(this);
    }

    /** Lets it wait until its due time. */
    void waitAgain() {
        move(State.WAITING, past().due);
    }

    void note(long now, String text) {
        byte[] bytes = text.getBytes(UTF_8);
        String cut = new String(Arrays.copyOf(bytes, Math.min(bytes.length, MOST_ERROR_BYTES)), UTF_8);
        last = new ErrorNote(Instant.ofEpochMilli(now), past().owner, cut);
        first = first == null ? last : first;
    }

    /** Whether these are the first 8 bytes of its frame, all of a shorter one; true if there are none. */
    boolean isIncarnation(@Nullable Bytes incarnation) {
        if (incarnation == null || incarnation.length() == 0) {
            return true;
        }
        int length = Math.min(Long.BYTES, frame.length());
        return Arrays.equals(frame.array(), 0, length, incarnation.array(), 0, incarnation.length());
    }

    /** A mark is half a millisecond, as in Redis, and a parked message is of the far future. */
    String score() {
        return time() + (announced ? ".5" : "");
    }

    /** The score without the mark. */
    long time() {
        return parked ? PARKED + at : at;
    }

    Position position() {
        return new Position(score(), id);
    }

    @Nullable History history() {
        return past == null ? null : past.history();
    }

    StoredMessage view() {
        return new StoredMessage(id, place, Instant.ofEpochMilli(at), history(), first, last, frame);
    }

    /** @param bytes maximum size of a claim's frames; a frame of more than a quarter is left out */
    Delivery delivery(int bytes) {
        boolean isLarge = frame.length() * 4L > bytes;
        return new Delivery(
                id,
                past().number,
                Instant.ofEpochMilli(past().due),
                past().failures,
                past().lost,
                past().releases,
                isLarge ? Bytes.NONE : frame,
                isLarge ? frame.length() : 0);
    }

    /** How many of the messages fit into so many bytes; a large one counts as a quarter of them. */
    static int fitting(List<MemoryMessage> messages, int bytes) {
        long quarters = 0;
        for (int i = 0; i < messages.size(); i++) {
            quarters += Math.min(4L * messages.get(i).frame.length(), bytes);
            if (quarters > 4L * bytes) {
                return i;
            }
        }
        return messages.size();
    }
}
