package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.FaultyCacheStore;
import io.easykit.cache.memory.Operation;
import io.easykit.cache.store.StoreUnavailableException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Single calls of Redis fail, and it stays available: the local level plays no part. */
class SingleFailureTests {

    private final Workbench bench = new Workbench();
    private final AtomicReference<String> database = new AtomicReference<>("old");

    @AutoClose("shutdownNow")
    private final ExecutorService threads = Executors.newCachedThreadPool();

    private final EasyCacheEngine cache =
            bench.builder(new JacksonValueCodec()).async(threads).buildStopped();
    private final EasyCacheEngine other = bench.node();
    private final CacheSpec<String> spec = Workbench.ap()
            .withOptions(Workbench.ap().options().toBuilder()
                    .staleWindow(Duration.ZERO)
                    .build());
    private final CacheKey<String> key = spec.key(1);

    @BeforeEach
    void answerLater() {
        bench.store.answeringLater();
    }

    private enum Failure {
        SERVER {
            @Override
            StoreUnavailableException exception() {
                return new StoreUnavailableException("late", true, null);
            }
        },
        BEHIND_LARGE_VALUES {
            @Override
            StoreUnavailableException exception() {
                return StoreUnavailableException.delayed("late", null);
            }
        },
        OF_THE_KEY {
            @Override
            StoreUnavailableException exception() {
                return new StoreUnavailableException("Redis answered: NOPERM", false, null);
            }
        };

        abstract StoreUnavailableException exception();

        void strike(FaultyCacheStore store, Operation operation) {
            store.onNext(operation, () -> {
                throw exception();
            });
        }
    }

    static Stream<Arguments> failures() {
        return Stream.of(Reading.values()).flatMap(reading -> Stream.of(Failure.values())
                .flatMap(failure -> Stream.of(Operation.READ, Operation.FETCH)
                        .map(operation -> Arguments.of(reading, failure, operation))));
    }

    @ParameterizedTest
    @MethodSource("failures")
    void noReaderGetsAValueFromBeforeAnUpdate(Reading reading, Failure failure, Operation operation) throws Exception {
        failure.strike(bench.store, operation);
        assertThat(read(reading)).isEqualTo("old");

        database.set("new");
        other.invalidate(key);

        failure.strike(bench.store, operation);
        assertThat(read(reading)).isEqualTo("new");
        assertThat(read(reading)).isEqualTo("new");
        assertThat(bench.events.next()).doesNotContain("hit LOCAL");
        assertThat(Objects.requireNonNull(cache.availability("default")).state())
                .isEqualTo(State.AVAILABLE);
    }

    private String read(Reading reading) throws Exception {
        return reading.read(cache, spec, 1, database::get);
    }

    @Test
    void aLookReturnsNothing() {
        Failure.SERVER.strike(bench.store, Operation.READ);
        cache.fetch(key, database::get);

        Failure.SERVER.strike(bench.store, Operation.PEEK);
        assertThat(cache.peek(key)).isNull();
    }
}
