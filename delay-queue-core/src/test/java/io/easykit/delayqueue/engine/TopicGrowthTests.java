package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.admin.TopicStats;
import io.easykit.delayqueue.memory.InMemoryQueueStore;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.ShardKey;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A pause of a topic holds for shards that are added, whoever adds them and when. */
class TopicGrowthTests {

    private final TestQueue queue = new TestQueue();

    @Test
    void shardsThatAnOperatorAddsArePausedAsTheOthers() {
        queue.memory.declare(TOPIC, 1);
        queue.start(listener().concurrency(2), message -> {});
        queue.engine.fleet().pause(TOPIC, "ann");
        queue.engine.admin().growShards(TOPIC, 4);
        queue.time.advance(Duration.ofMinutes(3));
        for (int i = 0; i < 50; i++) {
            queue.engine.template().send(OutgoingMessage.of(TOPIC, "x"));
        }
        queue.time.advance(Duration.ofSeconds(10));

        assertThat(queue.runs).isEmpty();
        TopicStats stats = queue.engine.admin().stats(TOPIC);
        assertThat(stats.pausedShards()).isEqualTo(4);
        assertThat(stats.shards()).allSatisfy(shard -> assertThat(shard.pause())
                .satisfies(pause -> assertThat(pause.by()).isEqualTo("ann")));

        assertThat(queue.engine.fleet().resume(TOPIC)).isEqualTo(4);
        queue.time.advance(Duration.ofSeconds(10));
        assertThat(queue.runs).hasSize(50);
    }

    @Test
    void shardsThatTheSettingsAddArePausedAsTheOthers() {
        queue.memory.declare(TOPIC, 1);
        queue.engine.fleet().pause(TOPIC, "ann");

        new Topics(queue.memory, topic -> 3, queue.node::nanos).shards(TOPIC);

        assertThat(paused(queue.memory)).containsExactly(true, true, true);
    }

    /** Else a consumer could claim from a new shard before it is paused. */
    @Test
    void newShardsArePausedBeforeTheyAreDeclared() {
        queue.memory.declare(TOPIC, 1);
        queue.memory.pause(new ShardKey(TOPIC, 0), "ann");
        FaultyStore line = new FaultyStore(queue.memory);
        List<Boolean> atDeclaration = new ArrayList<>();
        line.plan(method -> {
            if (method.equals("grow")) {
                atDeclaration.add(queue.memory.stats(new ShardKey(TOPIC, 1)).pause() != null);
            }
            return FaultyStore.Fault.NONE;
        });

        new Topics(line.asStore(), topic -> Topics.UNSET, queue.node::nanos).grow(TOPIC, 2);

        assertThat(atDeclaration).containsExactly(true);
    }

    /** The error alone would mean that nothing has changed. */
    @ParameterizedTest
    @CsvSource({
        "stats, REJECTED",
        "stats, LOST_REQUEST",
        "stats, REFUSED",
        "pause, REJECTED",
        "pause, REFUSED",
        "pause, FULL",
    })
    void aFailureAfterTheGrowthLeavesItsOutcomeUnknown(String method, FaultyStore.Fault fault) {
        queue.memory.declare(TOPIC, 1);
        FaultyStore line = new FaultyStore(queue.memory);
        boolean[] grown = new boolean[1];
        line.plan(each -> {
            if (each.equals("grow")) {
                queue.memory.pause(new ShardKey(TOPIC, 0), "bob"); // so that the new shards are paused afterwards
                grown[0] = true;
            }
            return grown[0] && each.equals(method) ? fault : FaultyStore.Fault.NONE;
        });
        Topics topics = new Topics(line.asStore(), topic -> Topics.UNSET, queue.node::nanos);

        assertThatThrownBy(() -> topics.grow(TOPIC, 2))
                .hasMessageStartingWith("A part of the change may have been made: ")
                .satisfies(e -> assertThat(e instanceof StoreRefusedException
                                || (e instanceof StoreUnavailableException away && away.isOutcomeUnknown()))
                        .isTrue());
        assertThat(queue.memory.declared(TOPIC).all()).isEqualTo(2);
    }

    @Test
    void aPauseThatAnUnfinishedGrowthHasLeftDoesNotHold() {
        queue.memory.declare(TOPIC, 1);
        queue.memory.pause(new ShardKey(TOPIC, 1), "ann");

        queue.engine.admin().growShards(TOPIC, 2);

        assertThat(paused(queue.memory)).containsExactly(false, false);
    }

    @Test
    void aNodeThatDoesNotKnowTheNewShardsYetResumesThemToo() {
        queue.memory.declare(TOPIC, 1);
        DelayQueueEngine other = queue.builder(queue.time.node(), queue.memory).build();
        assertThat(other.admin().stats(TOPIC).pausedShards()).isZero();
        queue.engine.admin().growShards(TOPIC, 3);
        queue.engine.fleet().pause(TOPIC, "ann");

        assertThat(other.fleet().resume(TOPIC)).isEqualTo(3);
        assertThat(paused(queue.memory)).containsExactly(false, false, false);
    }

    /** All orders of the calls of a growth, and of a pause or resume through a node that knows the old count. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void ofAGrowthAndAChangeAtTheSameTimeTheChangeHolds(boolean pauses) {
        AtomicInteger orders = new AtomicInteger();
        forEachOrder(6, 5, order -> {
            orders.incrementAndGet();
            InMemoryQueueStore store = new InMemoryQueueStore(() -> 0);
            store.declare(TOPIC, 1);
            if (!pauses) {
                store.pause(new ShardKey(TOPIC, 0), "bob");
            }
            Turns turns = new Turns(order);
            Topics growing = new Topics(turns.of(0, store), topic -> Topics.UNSET, () -> 0);
            Topics changing = new Topics(turns.of(1, store), topic -> Topics.UNSET, () -> 0);
            DefaultFleetAdmin fleet = new DefaultFleetAdmin(turns.of(1, store), changing, "node", () -> 0);

            turns.run(() -> growing.grow(TOPIC, 2), () -> {
                if (pauses) {
                    fleet.pause(TOPIC, "ann");
                } else {
                    fleet.resume(TOPIC);
                }
            });

            assertThat(paused(store)).as("order %s", order).containsExactly(pauses, pauses);
        });
        assertThat(orders.get()).isEqualTo(462);
    }

    private static List<Boolean> paused(QueueBackend store) {
        return IntStream.range(0, store.declared(TOPIC).all())
                .mapToObj(shard -> store.stats(new ShardKey(TOPIC, shard)).pause() != null)
                .toList();
    }

    private static void forEachOrder(int first, int second, Consumer<List<Integer>> action) {
        extend(new ArrayList<>(), first, second, action);
    }

    private static void extend(List<Integer> order, int first, int second, Consumer<List<Integer>> action) {
        if (first == 0 && second == 0) {
            action.accept(List.copyOf(order));
            return;
        }
        for (int who = 0; who < 2; who++) {
            if ((who == 0 ? first : second) > 0) {
                order.add(who);
                extend(order, first - (1 - who), second - who, action);
                order.remove(order.size() - 1);
            }
        }
    }

    /** Two threads that call a store in a given order. A thread that has ended leaves its turns to the other one. */
    private static final class Turns {

        private final Deque<Integer> order;
        private final boolean[] ended = new boolean[2];

        Turns(List<Integer> order) {
            this.order = new ArrayDeque<>(order);
        }

        QueueBackend of(int who, QueueBackend behind) {
            return (QueueBackend) Proxy.newProxyInstance(
                    QueueBackend.class.getClassLoader(),
                    new Class<?>[] {QueueBackend.class},
                    (proxy, method, arguments) -> {
                        try {
                            return inTurn(who, () -> method.invoke(behind, arguments));
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        }

        private interface Call {
            Object run() throws ReflectiveOperationException;
        }

        private synchronized Object inTurn(int who, Call call)
                throws ReflectiveOperationException, InterruptedException {
            while (!ended[1 - who] && !order.isEmpty() && order.peek() != who) {
                wait();
            }
            order.poll();
            Object result = call.run();
            notifyAll();
            return result;
        }

        private synchronized void end(int who) {
            ended[who] = true;
            notifyAll();
        }

        void run(Runnable first, Runnable second) {
            List<Throwable> failures = new ArrayList<>();
            Thread other = new Thread(() -> {
                try {
                    first.run();
                } catch (RuntimeException | Error e) {
                    failures.add(e);
                } finally {
                    end(0);
                }
            });
            other.start();
            try {
                second.run();
            } finally {
                end(1);
            }
            try {
                other.join();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            assertThat(failures).isEmpty();
        }
    }
}
