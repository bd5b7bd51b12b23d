package io.easykit.delayqueue.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.DelayQueueListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class EventQueueTests {

    private final SimulatedTime time = new SimulatedTime();
    private final List<DelayQueueEvent> told = new ArrayList<>();
    private final EventQueue queue = new EventQueue(
            new Events(
                    List.of(() -> List.of(new DelayQueueListener() {
                        @Override
                        public void onEvent(DelayQueueEvent event) {
                            told.add(event);
                        }
                    })),
                    new RepeatedLines(System::nanoTime)),
            time.node());

    private static DelayQueueEvent event(int i) {
        return new DelayQueueEvent.LeaseLost("orders", "close", "m" + i);
    }

    @Test
    void deliversOnAnotherThreadInOrder() {
        List<DelayQueueEvent> all =
                IntStream.range(0, 100).mapToObj(EventQueueTests::event).toList();
        all.forEach(queue::emit);
        assertThat(told).isEmpty();

        time.advance(Duration.ofMillis(1));
        assertThat(told).isEqualTo(all);
    }

    @Test
    void isBoundedAndGoesOnAfterAnOverflow() {
        IntStream.range(0, EventQueue.MOST + 500)
                .mapToObj(EventQueueTests::event)
                .forEach(queue::emit);
        time.advance(Duration.ofMillis(1));
        assertThat(told).hasSize(EventQueue.MOST);

        queue.emit(event(-1));
        time.advance(Duration.ofMillis(1));
        assertThat(told).hasSize(EventQueue.MOST + 1);
    }

    @Test
    void deliversWhatWaitsBeforeItEndsAndNothingAfterwards() {
        queue.emit(event(1));
        queue.close();
        queue.emit(event(2));
        time.advance(Duration.ofMillis(1));

        assertThat(told).containsExactly(event(1));
    }
}
