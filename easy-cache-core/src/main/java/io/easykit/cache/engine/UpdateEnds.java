package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.Transactions;
import io.easykit.cache.Transactions.Completion;
import java.time.Duration;
import java.util.Collection;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The second phase of updates, by what is known of their work.
 *
 * <p>A commit, or a statement that commits itself, can fail without an answer of the database: its connection is lost, or the
 * driver gives up. The database may still carry it out, for instance when a replica confirms it. Until then readers load the old
 * value, and with the mark removed they would store it.
 *
 * <ul>
 *   <li>If the transaction manager reports an unknown result, the keys stay prepared for their lease, and end again after it.
 *   <li>Some managers, such as that of JPA, report a rollback whether the connection was lost or a constraint was violated. These
 *       updates, and actions that throw, end at once, and again after {@link MarkRenewals#LATE}. An old value stays for that
 *       long at most, if the database is done by then.
 * </ul>
 */
final class UpdateEnds {

    private static final String NO_TOKEN = "";

    private final UpdatePhases phases;
    private final Transactions transactions;

    UpdateEnds(UpdatePhases phases, Transactions transactions) {
        this.phases = phases;
        this.transactions = transactions;
    }

    /** Ends the prepared updates of a transaction. */
    void endCommit(
            Collection<? extends CacheKey<?>> keys,
            String token,
            @Nullable Duration timeout,
            boolean acknowledged,
            Completion completion) {
        boolean unknown = completion == Completion.UNKNOWN;
        try {
            phases.end(keys, unknown ? NO_TOKEN : token, acknowledged);
        } finally {
            if (unknown) {
                phases.endAfterLease(keys, token, timeout);
            } else if (completion == Completion.ROLLED_BACK) {
                phases.endAgain(keys, token);
            }
        }
    }

    /** Ends the updates that are prepared around the commit of an inner transaction. */
    void endInner(Collection<? extends CacheKey<?>> keys, String token, boolean acknowledged, boolean committed) {
        try {
            phases.end(keys, token, acknowledged);
        } finally {
            if (!committed) {
                phases.endAgain(keys, token);
            }
        }
    }

    /** Ends updates that are prepared: now, or when their work is committed. */
    void endPrepared(Collection<? extends CacheKey<?>> keys, String token, boolean acknowledged) {
        BooleanSupplier open = transactions.lateCommit();
        try {
            phases.end(keys, open == null ? token : NO_TOKEN, acknowledged);
        } finally {
            if (open != null) {
                phases.endWhenClosed(keys, token, open);
            }
        }
    }

    /** Ends updates that are not prepared, and whose work may still be committed. */
    void endUnprepared(Collection<? extends CacheKey<?>> keys) {
        String token = UpdatePhases.newToken();
        boolean acknowledged = false;
        try {
            acknowledged = phases.prepareEnded(keys, token);
        } finally {
            endPrepared(keys, token, acknowledged);
        }
    }
}
