package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.AlertLimits;
import io.easykit.delayqueue.MessageInfo.ErrorNote;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.admin.StoppedKey;
import io.easykit.delayqueue.store.Browsed;
import io.easykit.delayqueue.store.DeadLetterErrors;
import io.easykit.delayqueue.store.Position;
import io.easykit.delayqueue.store.StoppedKeys;
import io.easykit.delayqueue.store.StoredMessage;
import io.easykit.delayqueue.store.StoredMessage.History;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.LogText;
import io.easykit.redis.ListReply;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads the replies of the scripts that show messages and counts, in the forms that their headers name. */
final class InspectionReplies {

    enum BrowseReply {
        TOTAL,
        RANK
    }

    enum EntryField {
        ID,
        POSITION,
        SCORE,
        STATE,
        LAST_ERROR,
        LENGTH,
        FRAME
    }

    enum TriageReply {
        TOTAL
    }

    enum ErrorField {
        ID,
        POSITION,
        DIED_AT,
        ERROR
    }

    enum StoppedKeysReply {
        NEXT
    }

    enum StoppedKeyField {
        KEY,
        ID,
        DIED_AT,
        PARKED
    }

    enum FindReply {}

    enum MessageField {
        ID,
        PLACE,
        SCORE,
        STATE,
        FIRST_ERROR,
        LAST_ERROR,
        FRAME
    }

    enum StatsReply {
        NOW,
        PAUSED,
        WAITING,
        DUE,
        IN_FLIGHT,
        DEAD,
        OLDEST_DUE,
        ALERTS,
        PARKED,
        STOPPED_KEYS,
        LIMITS
    }

    enum CounterField {
        NAME,
        VALUE
    }

    private InspectionReplies() {}

    /** Reads a body of an id that did not fit into a reply; null if it is gone. */
    interface BodyReader extends BiFunction<String, Integer, @Nullable Bytes> {}

    static Optional<StoredMessage> found(List<?> list, BodyReader bodies) {
        return Replies.of(QueueScript.FIND, list, FindReply.class).groups(MessageField.class).stream()
                .map(message -> message(message, bodies))
                .findFirst();
    }

    /** A damaged message is shown as such. */
    private static StoredMessage message(ListReply message, BodyReader bodies) {
        List<String> damage = new ArrayList<>();
        Bytes frame = frame(message, bodies);
        int unread = frame == null ? 0 : Replies.unread(message, MessageField.FRAME);
        return new StoredMessage(
                message.text(MessageField.ID),
                place(message.text(MessageField.PLACE)),
                message.instant(MessageField.SCORE),
                read("state", message.textOrNull(MessageField.STATE), InspectionReplies::history, damage),
                read("first error", message.textOrNull(MessageField.FIRST_ERROR), InspectionReplies::note, damage),
                read("last error", message.textOrNull(MessageField.LAST_ERROR), InspectionReplies::note, damage),
                frame,
                frame == null ? 0 : Math.max(unread, frame.length()),
                damage.isEmpty() ? null : String.join("; ", damage));
    }

    private static @Nullable Bytes frame(ListReply message, BodyReader bodies) {
        int unread = Replies.unread(message, MessageField.FRAME);
        if (unread > 0) {
            return bodies.apply(message.text(MessageField.ID), unread);
        }
        byte[] frame = message.bytesOrNull(MessageField.FRAME);
        return frame == null ? null : Bytes.of(frame);
    }

    private static <T> @Nullable T read(
            String what, @Nullable String text, Function<String, T> reading, List<String> damage) {
        try {
            return text == null ? null : reading.apply(text);
        } catch (RuntimeException unreadable) {
            damage.add("its " + what + " is unreadable: " + LogText.of(text));
            return null;
        }
    }

    static ShardStats stats(List<?> list) {
        ListReply reply = Replies.of(QueueScript.STATS, list, StatsReply.class);
        Map<String, Long> counters = new HashMap<>();
        for (ListReply counter : reply.groups(CounterField.class)) {
            counters.put(counter.text(CounterField.NAME), counter(counter.text(CounterField.VALUE)));
        }
        return new ShardStats(
                reply.instant(StatsReply.NOW),
                pause(reply.textOrNull(StatsReply.PAUSED)),
                reply.number(StatsReply.WAITING),
                reply.number(StatsReply.DUE),
                reply.number(StatsReply.IN_FLIGHT),
                reply.number(StatsReply.DEAD),
                reply.instantOrNull(StatsReply.OLDEST_DUE),
                alerts(reply.text(StatsReply.ALERTS)),
                new ShardStats.Counters(
                        counters.getOrDefault("sent", 0L),
                        counters.getOrDefault("acknowledged", 0L),
                        counters.getOrDefault("failed", 0L),
                        counters.getOrDefault("lost", 0L),
                        counters.getOrDefault("dead", 0L),
                        counters.getOrDefault("cancelled", 0L),
                        counters.getOrDefault("redriven", 0L),
                        counters.getOrDefault("purged", 0L)),
                reply.number(StatsReply.PARKED),
                reply.number(StatsReply.STOPPED_KEYS),
                flow(reply.textOrNull(StatsReply.LIMITS)));
    }

    private static ShardStats.@Nullable Flow flow(@Nullable String text) {
        if (text == null) {
            return null;
        }
        long[] parts = Stream.of(text.split(":")).mapToLong(Long::parseLong).toArray();
        return new ShardStats.Flow(
                Duration.ofNanos(parts[1] * 1000),
                (int) parts[2],
                (int) parts[0],
                (int) parts[3],
                parts[1] == 0 ? null : Instant.EPOCH.plus(parts[4], ChronoUnit.MICROS));
    }

    /** One digit for each kind, in their order. */
    private static Set<AlertLimits.Kind> alerts(String digits) {
        Set<AlertLimits.Kind> raised = EnumSet.noneOf(AlertLimits.Kind.class);
        int at = 0;
        for (AlertLimits.Kind kind : AlertLimits.Kind.values()) {
            if (digits.charAt(at) == '1') {
                raised.add(kind);
            }
            at++;
        }
        return raised;
    }

    /** The field has no time if it was set by hand. */
    private static ShardStats.@Nullable Pause pause(@Nullable String text) {
        if (text == null) {
            return null;
        }
        String[] parts = text.split(":", 2);
        return parts.length == 2 && parts[0].matches("\\d{1,15}")
                ? new ShardStats.Pause(Instant.ofEpochMilli(Long.parseLong(parts[0])), parts[1])
                : new ShardStats.Pause(null, "");
    }

    /** A counter that is no number counts as zero until it is repaired. */
    private static long counter(String text) {
        return text.matches("\\d{1,15}") ? Long.parseLong(text) : 0;
    }

    static Browsed browsed(List<?> list) {
        ListReply reply = Replies.of(QueueScript.BROWSE, list, BrowseReply.class);
        List<Browsed.Entry> entries = new ArrayList<>();
        for (ListReply entry : reply.groups(EntryField.class)) {
            List<String> damage = new ArrayList<>();
            entries.add(new Browsed.Entry(
                    new Position(entry.text(EntryField.POSITION), entry.text(EntryField.ID)),
                    entry.instant(EntryField.SCORE),
                    read("state", entry.textOrNull(EntryField.STATE), InspectionReplies::history, damage),
                    read("last error", entry.textOrNull(EntryField.LAST_ERROR), InspectionReplies::note, damage),
                    entry.count(EntryField.LENGTH),
                    Bytes.of(entry.bytes(EntryField.FRAME)),
                    damage.isEmpty() ? null : String.join("; ", damage)));
        }
        return new Browsed(reply.number(BrowseReply.TOTAL), reply.number(BrowseReply.RANK), entries);
    }

    static DeadLetterErrors errors(List<?> list) {
        ListReply reply = Replies.of(QueueScript.TRIAGE, list, TriageReply.class);
        List<DeadLetterErrors.Entry> entries = new ArrayList<>();
        for (ListReply entry : reply.groups(ErrorField.class)) {
            ErrorNote note =
                    read("error", entry.textOrNull(ErrorField.ERROR), InspectionReplies::note, new ArrayList<>());
            entries.add(new DeadLetterErrors.Entry(
                    new Position(entry.text(ErrorField.POSITION), entry.text(ErrorField.ID)),
                    entry.instant(ErrorField.DIED_AT),
                    note == null ? null : note.text()));
        }
        return new DeadLetterErrors(reply.number(TriageReply.TOTAL), entries);
    }

    static StoppedKeys stoppedKeys(List<?> list) {
        ListReply reply = Replies.of(QueueScript.STOPPED_KEYS, list, StoppedKeysReply.class);
        return new StoppedKeys(
                reply.text(StoppedKeysReply.NEXT),
                reply.groups(StoppedKeyField.class).stream()
                        .map(key -> new StoppedKey(
                                key.text(StoppedKeyField.KEY),
                                key.text(StoppedKeyField.ID),
                                key.instant(StoppedKeyField.DIED_AT),
                                key.number(StoppedKeyField.PARKED)))
                        .toList());
    }

    static String place(State place) {
        return switch (place) {
            case WAITING -> "waiting";
            case IN_FLIGHT -> "inflight";
            case DEAD -> "dead";
        };
    }

    private static State place(String name) {
        for (State place : State.values()) {
            if (place(place).equals(name)) {
                return place;
            }
        }
        throw new IllegalStateException("A script answered the unknown place " + name);
    }

    private static History history(String state) {
        String[] parts = state.split(":", 6);
        return new History(
                Long.parseLong(parts[0]),
                Integer.parseInt(parts[1]),
                Integer.parseInt(parts[2]),
                Integer.parseInt(parts[3]),
                Instant.ofEpochMilli(Long.parseLong(parts[4])),
                parts[5]);
    }

    private static ErrorNote note(String entry) {
        String[] parts = entry.split(":", 3);
        return new ErrorNote(Instant.ofEpochMilli(Long.parseLong(parts[0])), parts[1], parts[2]);
    }
}
