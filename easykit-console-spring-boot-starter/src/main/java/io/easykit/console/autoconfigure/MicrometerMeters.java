package io.easykit.console.autoconfigure;

import io.easykit.console.ConsoleMeters;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.beans.factory.ObjectProvider;

/** Counts in the application's registry, if it has one. */
final class MicrometerMeters implements ConsoleMeters {

    private final ObjectProvider<MeterRegistry> registry;

    MicrometerMeters(ObjectProvider<MeterRegistry> registry) {
        this.registry = registry;
    }

    @Override
    public void count(String meter, String action, String outcome) {
        registry.ifAvailable(found -> Counter.builder(meter)
                .description(
                        meter.equals(JOBS) ? "Jobs that were started, stopped or continued" : "Requests of the console")
                .tag("action", action)
                .tag("outcome", outcome)
                .register(found)
                .increment());
    }
}
