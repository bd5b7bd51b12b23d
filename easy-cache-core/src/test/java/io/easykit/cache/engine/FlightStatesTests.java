package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.engine.LoadResult.Loaded;
import io.easykit.cache.engine.SingleFlight.Joined;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.jackson.JacksonValueCodec;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** The states of one key in {@link SingleFlight}, and what each of them is to a reader. */
class FlightStatesTests {

    private static final long LONG = TimeUnit.SECONDS.toNanos(10);
    private static final long NOW = 1_000;

    private final SingleFlight flights = new SingleFlight(
            new ValueEnvelopes(new JacksonValueCodec(), Ticker.SYSTEM), CacheListener.NONE, Ticker.SYSTEM);
    private final CacheKey<String> key = key(Duration.ofMinutes(1));
    private final CountDownLatch gate = new CountDownLatch(1);

    @Test
    void ownerServesTheReadersThatWait() throws Exception {
        Caller<LoadResult<String>> owner = own(() -> new Loaded<>("value", NOW));
        Caller<Joined<String>> reader =
                Workbench.call(() -> flights.join(read(NOW), LONG, null)).awaitWaiting();

        gate.countDown();

        assertThat(owner.result().value()).isEqualTo("value");
        assertThat(((Joined.Served<String>) reader.result()).result().value()).isEqualTo("value");
        assertThat(flights.isRunning(key)).isFalse();
    }

    @Test
    void resultThatIsTooOldIsForTheNextLoad() throws Exception {
        own(() -> new Loaded<>("value", NOW));
        Caller<Joined<String>> later =
                Workbench.call(() -> flights.join(read(NOW + 1), LONG, null)).awaitWaiting();

        gate.countDown();

        assertThat(later.result()).isInstanceOf(Joined.Again.class);
        assertThat(flights.join(read(NOW + 1), LONG, null)).isInstanceOf(Joined.Owner.class);
    }

    @Test
    void failureOfTheOwnerAloneIsNoResult() throws Exception {
        own(() -> new LoadResult.Failed<>(new InterruptedException(), NOW));
        Caller<Joined<String>> reader =
                Workbench.call(() -> flights.join(read(NOW), LONG, null)).awaitWaiting();

        gate.countDown();

        assertThat(reader.result()).isInstanceOf(Joined.Again.class);
    }

    @Test
    void ownerThatThrowsLeavesNobodyWaiting() throws Exception {
        Caller<LoadResult<String>> owner = own(() -> {
            throw new IllegalStateException("a defect");
        });
        Caller<Joined<String>> reader =
                Workbench.call(() -> flights.join(read(NOW), LONG, null)).awaitWaiting();

        gate.countDown();

        assertThat(owner.failure()).hasMessage("a defect");
        assertThat(reader.result()).isInstanceOf(Joined.Again.class);
        assertThat(flights.isRunning(key)).isFalse();
    }

    @Test
    void resultThatMayNotBeSharedLeavesEachReaderAlone() throws Exception {
        own(() -> new LoadResult.UnsharableValue<>("value"));
        Caller<Joined<String>> reader =
                Workbench.call(() -> flights.join(read(NOW), LONG, null)).awaitWaiting();

        gate.countDown();

        assertThat(reader.result()).isInstanceOf(Joined.Alone.class);
    }

    @Test
    void threadNeverWaitsForItsOwnLoad() {
        InFlightLoad<String> mine = flights.lead(key);

        assertThat(flights.join(read(NOW), LONG, null)).isInstanceOf(Joined.Alone.class);

        flights.run(key, mine, () -> new Loaded<>("value", NOW));
        assertThat(flights.isRunning(key)).isFalse();
    }

    @Test
    void readerWhoseTimeIsOverGoesOnBesideTheLoad() throws Exception {
        Caller<LoadResult<String>> owner = own(() -> new Loaded<>("value", NOW));

        Joined<String> joined = flights.join(read(NOW), 1, null);

        assertThat(((Joined.Overdue<String>) joined).stuck()).isFalse();
        assertThat(flights.isRunning(key)).isTrue();
        gate.countDown();
        assertThat(owner.result().value()).isEqualTo("value");
    }

    @Test
    void loadThatHangsIsReplacedAndStillServesItsReaders() throws Exception {
        CacheKey<String> impatient = key(Duration.ofMillis(1));
        Caller<LoadResult<String>> owner = own(impatient, () -> new Loaded<>("old", NOW));
        Caller<Joined<String>> early = Workbench.call(() -> flights.join(read(impatient, NOW), LONG, null))
                .awaitWaiting();
        await().until(() -> isStuck(flights.join(read(impatient, NOW), 1, null)));
        InFlightLoad<String> stuck = ((Joined.Overdue<String>) flights.join(read(impatient, NOW), 1, null)).load();

        InFlightLoad<String> next = flights.replace(impatient, stuck);

        assertThat(flights.replace(impatient, stuck)).isNull();
        gate.countDown();
        assertThat(owner.result().value()).isEqualTo("old");
        assertThat(((Joined.Served<String>) early.result()).result().value()).isEqualTo("old");
        assertThat(flights.isRunning(impatient)).isTrue();
        flights.run(impatient, next, () -> new Loaded<>("new", NOW));
        assertThat(flights.isRunning(impatient)).isFalse();
    }

    @Test
    void resultOfAnotherLoadOfTheKeyIsAsWelcome() throws Exception {
        SingleFlight others = new SingleFlight(
                new ValueEnvelopes(new JacksonValueCodec(), Ticker.SYSTEM), CacheListener.NONE, Ticker.SYSTEM);
        InFlightLoad<String> beside = others.lead(key);
        own(() -> new Loaded<>("late", NOW));
        Caller<Joined<String>> reader =
                Workbench.call(() -> flights.join(read(NOW), LONG, beside)).awaitWaiting();

        others.run(key, beside, () -> new Loaded<>("beside", NOW));

        assertThat(((Joined.Served<String>) reader.result()).result().value()).isEqualTo("beside");
        gate.countDown();
    }

    @Test
    void failureIsThrownToEachOfItsReaders() throws Exception {
        IllegalStateException failure = new IllegalStateException("no database");
        own(() -> new LoadResult.Failed<>(failure, NOW));
        Caller<Joined<String>> reader =
                Workbench.call(() -> flights.join(read(NOW), LONG, null)).awaitWaiting();

        gate.countDown();

        LoadResult<String> result = ((Joined.Served<String>) reader.result()).result();
        assertThatThrownBy(result::get).isSameAs(failure);
    }

    private static boolean isStuck(Joined<String> joined) {
        return joined instanceof Joined.Overdue<String> overdue && overdue.stuck();
    }

    /** A load on a thread of its own, with a result as soon as the gate is open. */
    private Caller<LoadResult<String>> own(Supplier<LoadResult<String>> result) {
        return own(key, result);
    }

    private Caller<LoadResult<String>> own(CacheKey<String> of, Supplier<LoadResult<String>> result) {
        Caller<LoadResult<String>> owner = Workbench.call(() -> flights.run(of, flights.lead(of), () -> {
            try {
                assertThat(gate.await(10, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException stop) {
                throw new AssertionError(stop);
            }
            return result.get();
        }));
        await().until(() -> flights.isRunning(of));
        return owner;
    }

    private ReadRequest<String> read(long startedAt) {
        return read(key, startedAt);
    }

    private static ReadRequest<String> read(CacheKey<String> of, long startedAt) {
        return new ReadRequest<>(of, () -> "never", any -> true, startedAt);
    }

    private static CacheKey<String> key(Duration loadWaitTimeout) {
        CacheSpec<String> spec = Workbench.cp();
        return spec.withOptions(spec.options().toBuilder()
                        .loadWaitTimeout(loadWaitTimeout)
                        .build())
                .key(1);
    }
}
