package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.DegradedOptions;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.Operation;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.InMemoryOutbox;
import io.easykit.cache.store.Outbox.Message;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Another node computes one entry of an update from another one of it, while the outbox delivers the update. The id of a key
 * decides which of three masters has it: the outer one is on the first, the inner one on the second or third.
 */
class OutboxComputedEntriesTests {

    private static final CacheKey<String> OUTER = Workbench.ap().key(0);

    private final Workbench bench = new Workbench();
    private final InMemoryOutbox outbox = new InMemoryOutbox(bench.clock::millis);
    private final EasyCacheEngine relay;
    private final EasyCacheEngine reader;
    private CacheKey<String> inner = Workbench.ap().key(1);
    private String data = "old";

    OutboxComputedEntriesTests() {
        bench.store.inParts(3);
        relay = node(bench.store);
        reader = node(bench.store);
        seconds(8, relay, reader);
    }

    private EasyCacheEngine node(EntryStore store) {
        return EasyCacheEngine.builder(new JacksonValueCodec())
                .store(CacheSpec.DEFAULT_CLUSTER, store)
                .background(bench.background)
                .degraded(DegradedOptions.defaults())
                .outbox(outbox)
                .ticker(bench.clock)
                .buildStopped();
    }

    private String read() {
        String value = reader.fetch(OUTER, () -> "view of " + reader.fetch(inner, () -> data));
        bench.background.runAll();
        return value;
    }

    /** The node dies before it reaches the master again, or lives on without it. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anUpdateByANodeThatDoesNotReachTheMasterOfOneEntry(boolean dies) {
        EasyCacheEngine cut = node(withoutMaster(1));
        tryMasters(cut, 5);
        assertThat(read()).isEqualTo("view of old");

        cut.update(List.of(OUTER, inner), () -> {
            data = "new";
            return null;
        });
        assertThat(read()).isEqualTo("view of old");
        seconds(3, dies ? new EasyCacheEngine[] {relay} : new EasyCacheEngine[] {relay, cut});

        assertThat(read()).isEqualTo("view of new");
    }

    private EntryStore withoutMaster(int master) {
        return (EntryStore) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {EntryStore.class}, (proxy, method, arguments) -> {
                    bench.store.away(master);
                    try {
                        return method.invoke(bench.store, arguments);
                    } catch (InvocationTargetException failed) {
                        throw failed.getCause();
                    } finally {
                        bench.store.back(master);
                    }
                });
    }

    enum Preparation {
        ACKNOWLEDGED {
            @Override
            void arrange(OutboxComputedEntriesTests test) {}
        },
        LOST {
            @Override
            void arrange(OutboxComputedEntriesTests test) {
                test.bench.store.afterNext(
                        Operation.PREPARE, () -> test.bench.store.failNext(Operation.PREPARE, Fault.LOST_REQUEST));
            }
        },
        OF_MANY_ENTRIES_WHILE_ANOTHER_MASTER_IS_AWAY {
            @Override
            void arrange(OutboxComputedEntriesTests test) {
                test.bench.store.away(1);
                test.seconds(5, test.relay, test.reader);
                test.put("away", Stream.of(Workbench.ap().key(1)));
                test.put("many", IntStream.range(1, 120).mapToObj(i -> Workbench.ap()
                        .key(3 * i)));
            }
        };

        abstract void arrange(OutboxComputedEntriesTests test);
    }

    @ParameterizedTest
    @EnumSource(Preparation.class)
    void aDelivery(Preparation preparation) {
        inner = Workbench.ap().key(2);
        assertThat(read()).isEqualTo("view of old");
        preparation.arrange(this);
        data = "new";
        put("update", Stream.of(OUTER, inner));
        readAfterEachInvalidation();

        relay.cluster(CacheSpec.DEFAULT_CLUSTER).relay().round();

        bench.store.afterNext(Operation.DROP, () -> {});
        seconds(20, relay);
        assertThat(read()).isEqualTo("view of new");
    }

    /** Twice is needed only if a master has invalidated what it had not prepared. */
    @Test
    void aMasterThatIsAwayCostsTheOthersNoSecondInvalidation() {
        inner = Workbench.ap().key(2);
        bench.store.away(1);
        seconds(5, relay);
        put("away", Stream.of(Workbench.ap().key(1)));
        put("update", Stream.of(OUTER, inner));
        int before = bench.store.count(Operation.DROP);

        relay.cluster(CacheSpec.DEFAULT_CLUSTER).relay().round();

        assertThat(bench.store.count(Operation.DROP) - before).isEqualTo(2);
    }

    private void readAfterEachInvalidation() {
        bench.store.afterNext(Operation.DROP, () -> {
            String unused = read();
            readAfterEachInvalidation();
        });
    }

    private void put(String id, Stream<CacheKey<String>> keys) {
        outbox.put(new Message(
                id, CacheSpec.DEFAULT_CLUSTER, keys.map(CacheKey::name).toList()));
    }

    private void seconds(int count, EasyCacheEngine... nodes) {
        for (int second = 0; second < count; second++) {
            bench.clock.advance(Duration.ofSeconds(1));
            for (EasyCacheEngine node : nodes) {
                tryMasters(node, 1);
                node.cluster(CacheSpec.DEFAULT_CLUSTER).relay().round();
            }
        }
    }

    private static void tryMasters(EasyCacheEngine node, int times) {
        for (int time = 0; time < times; time++) {
            List.copyOf(node.cluster(CacheSpec.DEFAULT_CLUSTER).workers()).forEach(RecoveryWorker::tick);
        }
    }
}
