package io.easykit.delayqueue.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.easykit.delayqueue.store.Delivery;
import io.easykit.delayqueue.support.Bytes;
import java.lang.management.ManagementFactory;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SettledMessagesTests {

    private final SettledMessages settled = new SettledMessages();

    private final InFlightMessage.SettlementSink sink = new InFlightMessage.SettlementSink() {
        @Override
        public void settled(InFlightMessage message) {
            settled.add(message);
        }

        @Override
        public void wake() {}

        @Override
        public Optional<Bytes> frame(InFlightMessage message) {
            return Optional.empty();
        }
    };

    private InFlightMessage message(int number) {
        return new InFlightMessage(
                TestQueue.listener().build(),
                new Delivery("m" + number, number, Instant.EPOCH, 0, 0, 0, Bytes.of(new byte[0])),
                0,
                sink);
    }

    private List<InFlightMessage> messages(int count) {
        return IntStream.range(0, count).mapToObj(this::message).toList();
    }

    private List<String> takeAll() {
        List<String> ids = new ArrayList<>();
        for (InFlightMessage first = settled.peek(); first != null; first = settled.peek()) {
            ids.add(first.id());
            settled.remove();
        }
        return ids;
    }

    @Test
    void comeInTheirOrderAndStayUntilTheyAreRemoved() {
        List<InFlightMessage> messages = messages(5);
        messages.subList(0, 3).forEach(InFlightMessage::acknowledge);
        assertThat(settled.peek()).isSameAs(messages.get(0)).isSameAs(settled.peek());
        settled.remove();
        messages.subList(3, 5).forEach(InFlightMessage::release);

        assertThat(takeAll()).containsExactly("m1", "m2", "m3", "m4");
        assertThat(takeAll()).isEmpty();
    }

    @Test
    void areNotLostIfManyThreadsAddThem() throws InterruptedException {
        List<InFlightMessage> messages = messages(4_000);
        List<Thread> threads = IntStream.range(0, 4)
                .mapToObj(n -> new Thread(
                        () -> messages.subList(1_000 * n, 1_000 * (n + 1)).forEach(InFlightMessage::acknowledge)))
                .toList();
        threads.forEach(Thread::start);
        List<String> taken = new ArrayList<>();
        while (threads.stream().anyMatch(Thread::isAlive)) {
            taken.addAll(takeAll());
        }
        taken.addAll(takeAll());

        assertThat(taken)
                .containsExactlyInAnyOrderElementsOf(
                        messages.stream().map(InFlightMessage::id).toList());
    }

    /** Too little memory must not keep a message from its consumer, who would renew its lease for ever. */
    @Test
    void areSettledWithoutAnyMemory() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        settleSome();
        long before = threads.getCurrentThreadAllocatedBytes();
        long empty = threads.getCurrentThreadAllocatedBytes() - before;
        InFlightMessage[] messages = messages(3_000).toArray(InFlightMessage[]::new);

        before = threads.getCurrentThreadAllocatedBytes();
        settle(messages);
        long used = threads.getCurrentThreadAllocatedBytes() - before - empty;

        assertThat(used).as("bytes for 3000 messages").isLessThan(3_000);
        assertThat(takeAll()).hasSize(3_000);
    }

    private void settleSome() {
        settle(messages(3).toArray(InFlightMessage[]::new));
        takeAll();
    }

    private static void settle(InFlightMessage[] messages) {
        for (int i = 0; i < messages.length; i += 3) {
            messages[i].acknowledge();
            messages[i + 1].release();
            messages[i + 2].giveUp();
        }
    }
}
