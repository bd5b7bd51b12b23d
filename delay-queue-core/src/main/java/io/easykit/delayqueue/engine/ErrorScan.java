package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.admin.ErrorGroup;
import io.easykit.delayqueue.admin.ErrorGroups;
import io.easykit.delayqueue.store.DeadLetterErrors;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Counts dead letters by the groups of their errors. */
final class ErrorScan {

    /** Errors of one kind are mostly the same text, but for ids and numbers. More groups than this count as unknown. */
    static final int MOST_GROUPS = 1000;

    private final Map<ErrorGroup, ErrorGroups.Count> groups = new HashMap<>();

    void add(DeadLetterErrors.Entry entry) {
        add(new DeadLetterRef(entry.position().id(), entry.diedAt()), entry.error());
    }

    /** @param error as the store returns it, or null */
    void add(DeadLetterRef death, @Nullable String error) {
        ErrorGroup group = groupOf(error);
        if (groups.size() >= MOST_GROUPS && !groups.containsKey(group)) {
            group = ErrorGroup.NONE;
        }
        Instant at = death.diedAt();
        groups.merge(group, new ErrorGroups.Count(group, 1, at, at, death), ErrorScan::sum);
    }

    /** @param error as the store returns it, or null */
    static ErrorGroup groupOf(@Nullable String error) {
        return error == null ? ErrorGroup.NONE : ErrorGroup.of(error);
    }

    private static ErrorGroups.Count sum(ErrorGroups.Count one, ErrorGroups.Count other) {
        boolean otherIsOlder = other.first().isBefore(one.first());
        return new ErrorGroups.Count(
                one.group(),
                one.count() + other.count(),
                otherIsOlder ? other.first() : one.first(),
                other.last().isAfter(one.last()) ? other.last() : one.last(),
                otherIsOlder ? other.sample() : one.sample());
    }

    /** The largest group first. */
    List<ErrorGroups.Count> groups() {
        return groups.values().stream()
                .sorted(Comparator.comparingLong(ErrorGroups.Count::count)
                        .reversed()
                        .thenComparing(ErrorGroups.Count::first)
                        .thenComparing(count -> count.group().key()))
                .toList();
    }
}
