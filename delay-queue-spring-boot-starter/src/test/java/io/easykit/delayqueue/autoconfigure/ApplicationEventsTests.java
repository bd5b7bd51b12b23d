package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.DelayQueueEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.springframework.context.ApplicationListener;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.support.GenericApplicationContext;

class ApplicationEventsTests {

    @Test
    void keepsTheEventsOfTheStartUntilTheApplicationHasStarted() {
        try (GenericApplicationContext context = new GenericApplicationContext()) {
            List<Object> seen = new ArrayList<>();
            ApplicationEvents events = new ApplicationEvents(context);
            context.addApplicationListener(events);
            context.addApplicationListener((ApplicationListener<PayloadApplicationEvent<DelayQueueEvent.Died>>)
                    event -> seen.add(event.getPayload()));
            DelayQueueEvent.Died first = new DelayQueueEvent.Died("orders", "1", "test");
            DelayQueueEvent.Died second = new DelayQueueEvent.Died("orders", "2", "test");
            DelayQueueEvent.Died later = new DelayQueueEvent.Died("orders", "3", "test");

            events.onDied(first);
            events.onDied(second);
            assertThat(seen).isEmpty();

            context.refresh();
            assertThat(seen).containsExactly(first, second);

            events.onDied(later);
            assertThat(seen).containsExactly(first, second, later);
        }
    }

    @Test
    void publishesTheEventsOfTheStartBeforeLaterOnes() {
        List<DelayQueueEvent> seen = new ArrayList<>();
        try (GenericApplicationContext context = new GenericApplicationContext()) {
            ApplicationEvents events = new ApplicationEvents(context);
            DelayQueueEvent.Died first = new DelayQueueEvent.Died("orders", "1", "test");
            DelayQueueEvent.Died second = new DelayQueueEvent.Died("orders", "2", "test");
            DelayQueueEvent.Died later = new DelayQueueEvent.Died("orders", "3", "test");
            context.addApplicationListener(events);
            context.addApplicationListener(
                    (ApplicationListener<PayloadApplicationEvent<DelayQueueEvent.Died>>) event -> {
                        if (event.getPayload().equals(first)) {
                            CompletableFuture.runAsync(() -> events.onDied(later))
                                    .join();
                        }
                        seen.add(event.getPayload());
                    });
            events.onDied(first);
            events.onDied(second);

            context.refresh();

            assertThat(seen).containsExactly(first, second, later);
        }
    }
}
