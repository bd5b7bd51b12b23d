package io.easykit.console.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.admin.FleetAdmin;
import io.easykit.delayqueue.admin.TopicSeries;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** One master of several does not answer. */
class TopicHistoryTests {

    private static final Set<String> SILENT = Set.of("b", "c");

    private final AtomicLong nanos = new AtomicLong();
    private final List<String> read = new ArrayList<>();
    private final TopicHistory history = new TopicHistory(fleet(), new ShownClock(nanos::get), nanos::get);

    @Test
    void showsTheOtherTopicsAndWaitsForOneSilentTopicAtATime() {
        assertThat(show("a", "b", "c", "d")).containsExactly("a");
        assertThat(read).containsExactly("a", "b");

        pass(Duration.ofSeconds(5));
        assertThat(show("a", "b", "c", "d")).containsExactly("a");
        assertThat(read).containsExactly("a", "b", "c");

        pass(Duration.ofSeconds(5));
        assertThat(show("a", "b", "c", "d")).containsExactly("a", "d");
        assertThat(read).containsExactly("a", "b", "c", "d");
    }

    @Test
    void readsASilentTopicAgain() {
        assertThat(show("b")).isEmpty();

        pass(Duration.ofSeconds(31));
        assertThat(show("b")).isEmpty();

        assertThat(read).containsExactly("b", "b");
    }

    private List<String> show(String... topics) {
        return List.of(topics).stream()
                .filter(topic -> history.waiting(topic) != null)
                .toList();
    }

    private void pass(Duration time) {
        nanos.addAndGet(time.toNanos());
    }

    private FleetAdmin fleet() {
        return (FleetAdmin) Proxy.newProxyInstance(
                FleetAdmin.class.getClassLoader(), new Class<?>[] {FleetAdmin.class}, (proxy, method, arguments) -> {
                    assertThat(method.getName()).isEqualTo("series");
                    String topic = (String) arguments[0];
                    read.add(topic);
                    if (SILENT.contains(topic)) {
                        throw new StoreUnavailableException("test", new IllegalStateException());
                    }
                    return new TopicSeries(topic, Instant.ofEpochSecond(3600), List.of());
                });
    }
}
