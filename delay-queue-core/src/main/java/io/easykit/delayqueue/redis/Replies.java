package io.easykit.delayqueue.redis;

import static java.util.Objects.requireNonNull;

import io.easykit.delayqueue.AlertLimits;
import io.easykit.delayqueue.Bytes;
import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.LogText;
import io.easykit.delayqueue.MessageInfo.ErrorNote;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.ShardStats;
import io.easykit.delayqueue.store.ClaimStatus;
import io.easykit.delayqueue.store.Claimed;
import io.easykit.delayqueue.store.Delivery;
import io.easykit.delayqueue.store.Lease;
import io.easykit.delayqueue.store.LostLease;
import io.easykit.delayqueue.store.Page;
import io.easykit.delayqueue.store.Reaped;
import io.easykit.delayqueue.store.RedrivenPage;
import io.easykit.delayqueue.store.Repaired;
import io.easykit.delayqueue.store.Settlement;
import io.easykit.delayqueue.store.StoredMessage;
import io.easykit.delayqueue.store.StoredMessage.History;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Reads the replies of the scripts, in the forms that their headers name. */
final class Replies {

    static final int DELIVERY_FIELDS = 7;
    static final int LOST_LEASE_FIELDS = 5;
    static final int MESSAGE_FIELDS = 7;

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

    static List<Boolean> flags(byte[] codes) {
        return each(codes, code -> code == 1);
    }

    static Claimed claimed(List<?> reply) {
        List<Delivery> deliveries = new ArrayList<>();
        for (int at = 5; at < reply.size(); at += DELIVERY_FIELDS) {
            deliveries.add(new Delivery(
                    text(reply, at),
                    number(reply, at + 1),
                    instant(reply, at + 2),
                    (int) number(reply, at + 3),
                    (int) number(reply, at + 4),
                    (int) number(reply, at + 5),
                    frameOrNone(reply.get(at + 6)),
                    unread(reply.get(at + 6))));
        }
        return new Claimed(
                instant(reply, 0),
                status(number(reply, 1)),
                instantOrNull(reply, 2),
                instantOrNull(reply, 3),
                settlements(bytes(reply, 4)),
                deliveries);
    }

    private static Bytes frameOrNone(@Nullable Object frame) {
        return frame instanceof byte[] bytes ? Bytes.of(bytes) : Bytes.NONE;
    }

    /** A number stands for a body that did not fit. */
    private static int unread(@Nullable Object frame) {
        return frame instanceof Long length ? length.intValue() : 0;
    }

    static Reaped reaped(List<?> reply) {
        List<LostLease> lost = new ArrayList<>();
        for (int at = 2; at < reply.size(); at += LOST_LEASE_FIELDS) {
            lost.add(new LostLease(
                    new Lease(text(reply, at), number(reply, at + 1)),
                    text(reply, at + 2),
                    (int) number(reply, at + 3),
                    number(reply, at + 4) == 0));
        }
        return new Reaped(instant(reply, 0), instantOrNull(reply, 1), lost);
    }

    static RedrivenPage redriven(List<?> reply) {
        return new RedrivenPage(instant(reply, 0), (int) number(reply, 1));
    }

    /** Reads a body of an id that did not fit into a reply; null if it is gone. */
    interface BodyReader extends BiFunction<String, Integer, @Nullable Bytes> {}

    static Page page(List<?> reply, BodyReader bodies) {
        return new Page(number(reply, 0), messages(reply, 1, bodies));
    }

    private static @Nullable Bytes frame(List<?> reply, int at, BodyReader bodies) {
        int unread = unread(reply.get(at + 6));
        if (unread > 0) {
            return bodies.apply(text(reply, at), unread);
        }
        byte[] frame = bytesOrNull(reply, at + 6);
        return frame == null ? null : Bytes.of(frame);
    }

    /** One that is damaged is shown as such, and the others as ever. */
    static List<StoredMessage> messages(List<?> reply, int from, BodyReader bodies) {
        List<StoredMessage> messages = new ArrayList<>();
        for (int at = from; at < reply.size(); at += MESSAGE_FIELDS) {
            List<String> damage = new ArrayList<>();
            messages.add(new StoredMessage(
                    text(reply, at),
                    place(text(reply, at + 1)),
                    instant(reply, at + 2),
                    read("state", textOrNull(reply, at + 3), Replies::history, damage),
                    read("first error", textOrNull(reply, at + 4), Replies::note, damage),
                    read("last error", textOrNull(reply, at + 5), Replies::note, damage),
                    frame(reply, at, bodies),
                    damage.isEmpty() ? null : String.join("; ", damage)));
        }
        return messages;
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

    static ShardStats stats(List<?> reply) {
        Map<String, Long> counters = new HashMap<>();
        for (int at = 8; at < reply.size(); at += 2) {
            counters.put(text(reply, at), counter(text(reply, at + 1)));
        }
        return new ShardStats(
                instant(reply, 0),
                pause(textOrNull(reply, 1)),
                number(reply, 2),
                number(reply, 3),
                number(reply, 4),
                number(reply, 5),
                instantOrNull(reply, 6),
                alerts(text(reply, 7)),
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

    static Repaired repaired(List<?> reply) {
        return new Repaired(text(reply, 0), texts(reply, 1), number(reply, 2), texts(reply, 3));
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

    private static <T> List<T> each(byte[] codes, IntFunction<T> meaning) {
        List<T> outcomes = new ArrayList<>(codes.length);
        for (byte code : codes) {
            outcomes.add(meaning.apply(code - '0'));
        }
        return outcomes;
    }

    static long number(List<?> reply, int at) {
        return (Long) requireNonNull(reply.get(at));
    }

    static Instant instant(List<?> reply, int at) {
        return Instant.ofEpochMilli(number(reply, at));
    }

    private static @Nullable Instant instantOrNull(List<?> reply, int at) {
        return number(reply, at) < 0 ? null : instant(reply, at);
    }

    private static byte[] bytes(List<?> reply, int at) {
        return (byte[]) requireNonNull(reply.get(at));
    }

    static byte @Nullable [] bytesOrNull(List<?> reply, int at) {
        return (byte[]) reply.get(at);
    }

    static String text(List<?> reply, int at) {
        return new String(bytes(reply, at), StandardCharsets.UTF_8);
    }

    static List<String> texts(List<?> reply, int at) {
        List<?> texts = (List<?>) requireNonNull(reply.get(at));
        return IntStream.range(0, texts.size()).mapToObj(i -> text(texts, i)).toList();
    }

    private static @Nullable String textOrNull(List<?> reply, int at) {
        byte[] bytes = bytesOrNull(reply, at);
        return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
    }

    private static IllegalStateException unknown(long code) {
        return new IllegalStateException("A script answered the unknown code " + code);
    }
}
