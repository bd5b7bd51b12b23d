package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CircuitBreakerOptions;
import io.easykit.cache.InvalidCacheOptionsException;
import io.easykit.cache.store.StoreUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class ClusterAvailabilityTests {

    private final StoreUnavailableException serverFailure = new StoreUnavailableException("ill", true, null);

    private final List<State> changes = new ArrayList<>();
    private final List<Set<String>> masters = new ArrayList<>();
    private Consumer<State> listener = state -> {};
    private final ClusterAvailability availability = new ClusterAvailability(
            "default",
            new CircuitBreakerOptions(Duration.ofSeconds(10), 0.5, 2, Duration.ofSeconds(1), 3),
            new ManualClock(),
            change -> changes.add(change.state()),
            new CacheListener() {
                @Override
                public void onAvailability(String clusterId, State state) {
                    listener.accept(state);
                }

                @Override
                public void onMasters(String clusterId, Set<String> slots) {
                    masters.add(slots);
                }
            });
    private final CircuitBreaker breaker = availability.breakers().get(0);

    @Test
    void isAvailableUntilTooManyCallsFailed() {
        breaker.failed(serverFailure);
        assertMay(true, true);
        breaker.failed(serverFailure);
        assertMay(false, false);
        breaker.failed(serverFailure);
        assertThat(changes).containsExactly(State.UNAVAILABLE);
    }

    @Test
    void tellsWhichMastersThereAreWhenTheyChange() {
        Workbench bench = new Workbench();
        bench.store.inParts(2);
        availability.repartition(bench.store.partitions());
        bench.store.inParts(3);
        availability.repartition(bench.store.partitions());

        assertThat(masters).containsExactly(Set.of("part 0", "part 1"), Set.of("part 0", "part 1", "part 2"));
    }

    /** The first change is told on a thread that is slow; the next one happens meanwhile. */
    @Test
    void tellsOfChangesInTheirOrder() throws Exception {
        List<State> told = new CopyOnWriteArrayList<>();
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        listener = state -> {
            if (state == State.UNAVAILABLE) {
                entered.countDown();
                assertThat(awaited(goOn)).isTrue();
            }
            told.add(state);
        };
        Thread slow = new Thread(() -> breaker.unavailable(serverFailure));
        slow.start();
        assertThat(awaited(entered)).isTrue();

        breaker.recovering();
        breaker.recovered();
        assertThat(changes).as("at once").containsExactly(State.UNAVAILABLE, State.AVAILABLE);
        goOn.countDown();
        slow.join();

        assertThat(told).containsExactly(State.UNAVAILABLE, State.AVAILABLE);
    }

    private static boolean awaited(CountDownLatch latch) {
        try {
            return latch.await(30, TimeUnit.SECONDS);
        } catch (InterruptedException stop) {
            throw new AssertionError(stop);
        }
    }

    @Test
    void letsUpdatesInBeforeReaders() {
        breaker.unavailable(serverFailure);
        breaker.recovering();
        assertMay(false, true);
        breaker.recovered();
        assertMay(true, true);
        assertThat(changes).containsExactly(State.UNAVAILABLE, State.AVAILABLE);
    }

    @Test
    void doesNotRecoverWhenItFailedMeanwhile() {
        breaker.unavailable(serverFailure);
        breaker.recovering();
        breaker.unavailable(serverFailure);
        breaker.recovered();
        assertMay(false, false);
    }

    @Test
    void forgetsTheFailuresOfTheTimeBeforeItsRecovery() {
        breaker.failed(serverFailure);
        breaker.failed(serverFailure);
        breaker.recovering();
        breaker.recovered();
        breaker.failed(serverFailure);
        assertMay(true, true);
    }

    @Test
    void isWhatAnOperatorSaysUntilReleased() {
        availability.force(State.AVAILABLE);
        breaker.unavailable(serverFailure);
        assertMay(true, true);
        assertThat(availability.forced()).hasValue(State.AVAILABLE);
        availability.reset();
        assertMay(false, false);
        assertThat(availability.forced()).isEmpty();
        availability.force(State.UNAVAILABLE);
        breaker.recovering();
        assertMay(false, false);
        assertThat(changes).containsExactly(State.UNAVAILABLE);
    }

    @Test
    void hasToRecoverAfterAForcedAbsence() {
        availability.force(State.UNAVAILABLE);
        availability.reset();
        assertMay(false, false);
        availability.force(State.UNAVAILABLE);
        availability.force(State.AVAILABLE);
        availability.reset();
        assertMay(false, false);
    }

    @Test
    void doesNotEndARecoveryThatAnAbsenceWasForcedInto() {
        breaker.unavailable(serverFailure);
        breaker.recovering();
        availability.force(State.UNAVAILABLE);
        availability.reset();
        breaker.recovered();
        assertMay(false, false);
    }

    @Test
    void refusesOptionsThatMakeNoSense() {
        CircuitBreakerOptions good = CircuitBreakerOptions.defaults();
        assertRefused("window", () -> options(Duration.ofMillis(9), 0.5, 1, good.probeInterval(), 1));
        assertRefused("failure-rate", () -> options(good.window(), 0, 1, good.probeInterval(), 1));
        assertRefused("failure-rate", () -> options(good.window(), 1.1, 1, good.probeInterval(), 1));
        assertRefused("minimum-calls", () -> options(good.window(), 1, 0, good.probeInterval(), 1));
        assertRefused("probe-interval", () -> options(good.window(), 1, 1, Duration.ZERO, 1));
        assertRefused("probe-interval", () -> options(good.window(), 1, 1, Duration.ofMillis(1001), 1));
        assertRefused("probes-to-recover", () -> options(good.window(), 1, 1, good.probeInterval(), 0));
    }

    private static void options(Duration window, double rate, int calls, Duration interval, int probes) {
        assertThat(new CircuitBreakerOptions(window, rate, calls, interval, probes))
                .isNull();
    }

    private static void assertRefused(String option, Runnable create) {
        assertThatExceptionOfType(InvalidCacheOptionsException.class)
                .isThrownBy(create::run)
                .withMessageContaining(option);
    }

    private void assertMay(boolean read, boolean write) {
        assertThat(breaker.mayRead()).as("readers").isEqualTo(read);
        assertThat(breaker.mayWrite()).as("updates").isEqualTo(write);
        assertThat(availability.state()).isEqualTo(read ? State.AVAILABLE : State.UNAVAILABLE);
    }
}
