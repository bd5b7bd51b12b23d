package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.admin.Replacement.Outcome;
import io.easykit.delayqueue.store.ClaimStatus;
import io.easykit.delayqueue.store.Claimed;
import io.easykit.delayqueue.store.Delivery;
import io.easykit.delayqueue.store.Lease;
import io.easykit.delayqueue.store.Lent;
import io.easykit.delayqueue.store.LostLease;
import io.easykit.delayqueue.store.Reaped;
import io.easykit.delayqueue.store.Repaired;
import io.easykit.delayqueue.store.Settlement;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.redis.ListReply;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/**
 * Reads the replies of the scripts that move messages, in the forms that their headers name. The enums name the values of a
 * list, in order: those at its begin, and those of the groups behind them. {@link InspectionReplies} and {@link FleetReplies}
 * read the others.
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

    enum LendReply {
        NOW,
        PERMITS,
        NEXT_PERMIT
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

    enum RepairReply {
        NEXT,
        WAIT_AGAIN,
        LEFTOVERS,
        COUNTERS
    }

    enum DiagnoseReply {
        COMMANDS,
        KEYS_AND_TYPES
    }

    enum DeclareReply {
        SHARDS,
        DECLARED,
        ALL,
        GROWN,
        NOW
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

    static Lent lent(List<?> list) {
        ListReply reply = of(QueueScript.LEND, list, LendReply.class);
        return new Lent(
                reply.instant(LendReply.NOW),
                reply.count(LendReply.PERMITS),
                reply.instantOrNull(LendReply.NEXT_PERMIT));
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

    /** Returns the length of a body that did not fit, else 0. */
    static int unread(ListReply reply, Enum<?> frame) {
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

    private static ClaimStatus status(long code) {
        return switch ((int) code) {
            case 1 -> ClaimStatus.CLAIMED;
            case 0 -> ClaimStatus.PAUSED;
            case -1 -> ClaimStatus.OUTDATED;
            case 2 -> ClaimStatus.THROTTLED;
            case 3 -> ClaimStatus.FULL;
            default -> throw unknown(code);
        };
    }

    private static <T> List<T> each(byte[] codes, IntFunction<T> meaning) {
        List<T> outcomes = new ArrayList<>(codes.length);
        for (byte code : codes) {
            outcomes.add(meaning.apply(code - '0'));
        }
        return outcomes;
    }

    static ListReply of(QueueScript script, List<?> list, Class<? extends Enum<?>> fields) {
        return ListReply.of(script.file(), list, fields);
    }

    private static IllegalStateException unknown(long code) {
        return new IllegalStateException("A script answered the unknown code " + code);
    }
}
