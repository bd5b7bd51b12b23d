package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.AlertLimits;
import io.easykit.delayqueue.Bytes;
import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.LogText;
import io.easykit.delayqueue.MessageInfo.ErrorNote;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.ShardStats;
import io.easykit.delayqueue.admin.Replacement.Outcome;
import io.easykit.delayqueue.store.ClaimStatus;
import io.easykit.delayqueue.store.Claimed;
import io.easykit.delayqueue.store.Delivery;
import io.easykit.delayqueue.store.Lease;
import io.easykit.delayqueue.store.LostLease;
import io.easykit.delayqueue.store.Reaped;
import io.easykit.delayqueue.store.Repaired;
import io.easykit.delayqueue.store.Settlement;
import io.easykit.delayqueue.store.StoredMessage;
import io.easykit.delayqueue.store.StoredMessage.History;
import io.easykit.redis.ListReply;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Reads the replies of the scripts, in the forms that their headers name. The enums name the values of a list, in order: those
 * at its begin, and those of the groups behind them.
 */
final class Replies {

    enum ClaimReply {
        NOW,
        STATUS,
        NEXT_DUE,
        NEXT_LEASE_END,
        CODES
    }

    enum DeliveryField {
        ID,
        NUMBER,
        DUE,
        FAILURES,
        LOST,
        RELEASES,
        FRAME
    }

    enum ReapReply {
        NOW,
        NEXT_LEASE_END
    }

    enum LostLeaseField {
        ID,
        NUMBER,
        OWNER,
        LOST,
        WAITS
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
        ALERTS
    }

    enum CounterField {
        NAME,
        VALUE
    }

    enum RepairReply {
        NEXT,
        WAIT_AGAIN,
        LEFTOVERS,
        COUNTERS
    }

    enum TopicsReply {}

    enum TopicField {
        TOPIC,
        SHARDS
    }

    enum BeatReply {
        NOW,
        IS_FIRST
    }

    enum WishField {
        LISTENER,
        WISH
    }

    enum NodesReply {
        NOW,
        NODES
    }

    enum NodeField {
        NODE,
        REPORT
    }

    enum ShareReply {
        IS_TAKER,
        SNAPSHOT
    }

    enum DiagnoseReply {
        COMMANDS,
        KEYS_AND_TYPES
    }

    enum DeclareReply {
        SHARDS,
        DECLARED
    }

    private Replies() {}

    static List<SendOutcome> sends(byte[] codes) {
        return each(codes, code -> switch (code) {
            case 1 -> SendOutcome.STORED;
            case 2 -> SendOutcome.REPLAYED;
            case 0 -> SendOutcome.DUPLICATE;
            default -> throw unknown(code);
        });
    }

    static List<Settlement> settlements(byte[] codes) {
        return each(codes, code -> switch (code) {
            case 1 -> Settlement.APPLIED;
            case 0 -> Settlement.STALE;
            case 2 -> Settlement.GONE;
            default -> throw unknown(code);
        });
    }

    static List<ChangeOutcome> changes(byte[] codes) {
        return each(codes, code -> switch (code) {
            case 1 -> ChangeOutcome.APPLIED;
            case 0 -> ChangeOutcome.GONE;
            case 2 -> ChangeOutcome.IN_FLIGHT;
            case 3 -> ChangeOutcome.DEAD;
            case 4 -> ChangeOutcome.OTHER_INCARNATION;
            default -> throw unknown(code);
        });
    }

    static Outcome replacement(long code) {
        return switch ((int) code) {
            case 1, 2 -> Outcome.REPLACED;
            case 0 -> Outcome.NOT_DEAD;
            case 4 -> Outcome.OTHER_INCARNATION;
            default -> throw unknown(code);
        };
    }

    static List<Boolean> flags(byte[] codes) {
        return each(codes, code -> code == 1);
    }

    static Claimed claimed(List<?> list) {
        ListReply reply = of(QueueScript.CLAIM, list, ClaimReply.class);
        List<Delivery> deliveries = new ArrayList<>();
        for (ListReply delivery : reply.groups(DeliveryField.class)) {
            deliveries.add(new Delivery(
                    delivery.text(DeliveryField.ID),
                    delivery.number(DeliveryField.NUMBER),
                    delivery.instant(DeliveryField.DUE),
                    delivery.count(DeliveryField.FAILURES),
                    delivery.count(DeliveryField.LOST),
                    delivery.count(DeliveryField.RELEASES),
                    frameOrNone(delivery),
                    unread(delivery, DeliveryField.FRAME)));
        }
        return new Claimed(
                reply.instant(ClaimReply.NOW),
                status(reply.number(ClaimReply.STATUS)),
                reply.instantOrNull(ClaimReply.NEXT_DUE),
                reply.instantOrNull(ClaimReply.NEXT_LEASE_END),
                settlements(reply.bytes(ClaimReply.CODES)),
                deliveries);
    }

    private static Bytes frameOrNone(ListReply delivery) {
        return delivery.isNumber(DeliveryField.FRAME) ? Bytes.NONE : Bytes.of(delivery.bytes(DeliveryField.FRAME));
    }

    /** A number stands for a body that did not fit. */
    private static int unread(ListReply reply, Enum<?> frame) {
        return reply.isNumber(frame) ? reply.count(frame) : 0;
    }

    static Reaped reaped(List<?> list) {
        ListReply reply = of(QueueScript.REAP, list, ReapReply.class);
        List<LostLease> lost = new ArrayList<>();
        for (ListReply lease : reply.groups(LostLeaseField.class)) {
            lost.add(new LostLease(
                    new Lease(lease.text(LostLeaseField.ID), lease.number(LostLeaseField.NUMBER)),
                    lease.text(LostLeaseField.OWNER),
                    lease.count(LostLeaseField.LOST),
                    lease.number(LostLeaseField.WAITS) == 0));
        }
        return new Reaped(reply.instant(ReapReply.NOW), reply.instantOrNull(ReapReply.NEXT_LEASE_END), lost);
    }

    /** Reads a body of an id that did not fit into a reply; null if it is gone. */
    interface BodyReader extends BiFunction<String, Integer, @Nullable Bytes> {}

    static Optional<StoredMessage> found(List<?> list, BodyReader bodies) {
        return of(QueueScript.FIND, list, FindReply.class).groups(MessageField.class).stream()
                .map(message -> message(message, bodies))
                .findFirst();
    }

    /** A damaged message is shown as such. */
    private static StoredMessage message(ListReply message, BodyReader bodies) {
        List<String> damage = new ArrayList<>();
        Bytes frame = frame(message, bodies);
        int unread = frame == null ? 0 : unread(message, MessageField.FRAME);
        return new StoredMessage(
                message.text(MessageField.ID),
                place(message.text(MessageField.PLACE)),
                message.instant(MessageField.SCORE),
                read("state", message.textOrNull(MessageField.STATE), Replies::history, damage),
                read("first error", message.textOrNull(MessageField.FIRST_ERROR), Replies::note, damage),
                read("last error", message.textOrNull(MessageField.LAST_ERROR), Replies::note, damage),
                frame,
                frame == null ? 0 : Math.max(unread, frame.length()),
                damage.isEmpty() ? null : String.join("; ", damage));
    }

    private static @Nullable Bytes frame(ListReply message, BodyReader bodies) {
        int unread = unread(message, MessageField.FRAME);
        if (unread > 0) {
            return bodies.apply(message.text(MessageField.ID), unread);
        }
        byte[] frame = message.bytesOrNull(MessageField.FRAME);
        return frame == null ? null : Bytes.of(frame);
    }

    static <T> @Nullable T read(String what, @Nullable String text, Function<String, T> reading, List<String> damage) {
        try {
            return text == null ? null : reading.apply(text);
        } catch (RuntimeException unreadable) {
            damage.add("its " + what + " is unreadable: " + LogText.of(text));
            return null;
        }
    }

    static ShardStats stats(List<?> list) {
        ListReply reply = of(QueueScript.STATS, list, StatsReply.class);
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
                        counters.getOrDefault("purged", 0L)));
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

    /** The field has no time if somebody set it by hand. */
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

    static Repaired repaired(List<?> list) {
        ListReply reply = of(QueueScript.REPAIR, list, RepairReply.class);
        return new Repaired(
                reply.text(RepairReply.NEXT),
                reply.texts(RepairReply.WAIT_AGAIN),
                reply.number(RepairReply.LEFTOVERS),
                reply.texts(RepairReply.COUNTERS));
    }

    static ListReply diagnosed(List<?> list) {
        return of(QueueScript.DIAGNOSE, list, DiagnoseReply.class);
    }

    static ListReply declared(List<?> list) {
        return of(QueueScript.DECLARE, list, DeclareReply.class);
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

    private static ClaimStatus status(long code) {
        return switch ((int) code) {
            case 1 -> ClaimStatus.CLAIMED;
            case 0 -> ClaimStatus.PAUSED;
            case -1 -> ClaimStatus.OUTDATED;
            default -> throw unknown(code);
        };
    }

    static History history(String state) {
        String[] parts = state.split(":", 6);
        return new History(
                Long.parseLong(parts[0]),
                Integer.parseInt(parts[1]),
                Integer.parseInt(parts[2]),
                Integer.parseInt(parts[3]),
                Instant.ofEpochMilli(Long.parseLong(parts[4])),
                parts[5]);
    }

    static ErrorNote note(String entry) {
        String[] parts = entry.split(":", 3);
        return new ErrorNote(Instant.ofEpochMilli(Long.parseLong(parts[0])), parts[1], parts[2]);
    }

    private static <T> List<T> each(byte[] codes, IntFunction<T> meaning) {
        List<T> outcomes = new ArrayList<>(codes.length);
        for (byte code : codes) {
            outcomes.add(meaning.apply(code - '0'));
        }
        return outcomes;
    }

    private static ListReply of(QueueScript script, List<?> list, Class<? extends Enum<?>> fields) {
        return ListReply.of(script.file(), list, fields);
    }

    private static IllegalStateException unknown(long code) {
        return new IllegalStateException("A script answered the unknown code " + code);
    }
}
