package io.easykit.delayqueue.memory;

import io.easykit.delayqueue.AlertLimits;
import io.easykit.delayqueue.store.AlertReport;
import io.easykit.delayqueue.store.TopicStore;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Raises and resolves alerts, so that one node reports each change. */
final class Alerts {

    private final MemoryClock clock;

    Alerts(MemoryClock clock) {
        this.clock = clock;
    }

    /** The limits of a shard that are exceeded. */
    Set<AlertLimits.Kind> raised(MemoryShard shard) {
        return Stream.of(AlertLimits.Kind.values())
                .filter(kind -> find(shard, kind.storedName()) != null)
                .collect(Collectors.toSet());
    }

    private MemoryShard.@Nullable Alert find(MemoryShard shard, String name) {
        MemoryShard.Alert alert = shard.alerts.get(name);
        return alert == null || alert.keptUntil() <= clock.now() ? null : alert;
    }

    boolean raise(MemoryShard shard, String name, AlertReport report) {
        MemoryShard.Alert before = find(shard, name);
        if (before != null && (before.isRaised() || (before.isBy(report) && report.isDone()))) {
            shard.alerts.put(
                    name, new MemoryShard.Alert("raised", "", 0, clock.now() + TopicStore.ALERT_EXPIRY.toMillis()));
            return false;
        }
        return claim(shard, name, "raise", report);
    }

    boolean resolve(MemoryShard shard, String name, AlertReport report) {
        MemoryShard.Alert before = find(shard, name);
        if (before == null) {
            return false;
        }
        if (before.isBy(report) && report.isDone()) {
            shard.alerts.remove(name);
            return false;
        }
        return claim(shard, name, "resolve", report);
    }

    private boolean claim(MemoryShard shard, String name, String change, AlertReport report) {
        long now = clock.now();
        MemoryShard.Alert before = find(shard, name);
        boolean isOfAnother = before != null
                && before.change().equals(change)
                && !before.token().equals(report.token())
                && before.claimedUntil() > now;
        if (report.isDone() || isOfAnother) {
            return false;
        }
        shard.alerts.put(
                name,
                new MemoryShard.Alert(
                        change,
                        report.token(),
                        now + TopicStore.ALERT_CLAIM.toMillis(),
                        now + TopicStore.ALERT_EXPIRY.toMillis()));
        return true;
    }
}
