package io.easykit.delayqueue.metrics;

import io.easykit.delayqueue.admin.OutboxAdmin;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;

/** Meters of the outbox, counted every ten seconds; NaN if it could not be counted. None without an outbox. */
public final class OutboxGauges implements DisposableBean {

    private static final double MILLIS = TimeUnit.SECONDS.toMillis(1);

    private final OwnGauges gauges;

    public OutboxGauges(MeterRegistry registry, @Nullable OutboxAdmin outbox) {
        this.gauges = new OwnGauges(registry);
        if (outbox != null) {
            add("waiting", "Messages in the outbox that wait to be stored", null, outbox, OutboxAdmin.Stats::waiting);
            add(
                    "oldest",
                    "Time since the send of the oldest message in the outbox",
                    "seconds",
                    outbox,
                    stats -> stats.oldest().toMillis() / MILLIS);
            add(
                    "refused",
                    "Topics in the outbox whose messages Redis refuses",
                    null,
                    outbox,
                    OutboxAdmin.Stats::refused);
        }
    }

    private void add(
            String name,
            String description,
            @Nullable String unit,
            OutboxAdmin outbox,
            ToDoubleFunction<OutboxAdmin.Stats> value) {
        gauges.add(Gauge.builder("delayqueue.outbox." + name, outbox, of -> {
                    OutboxAdmin.Stats stats = of.stats();
                    return stats == null ? Double.NaN : value.applyAsDouble(stats);
                })
                .description(description)
                .baseUnit(unit));
    }

    @Override
    public void destroy() {
        gauges.remove();
    }
}
