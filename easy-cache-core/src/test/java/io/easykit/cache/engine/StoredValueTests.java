package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Loader;
import io.easykit.cache.ValueCodec;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.engine.Workbench.GatedLoader;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.Held;
import io.easykit.cache.memory.Operation;
import io.easykit.cache.store.Envelope;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.core.ParameterizedTypeReference;

/** Values that are nothing, and bytes that are no value. */
class StoredValueTests {

    private static final Duration LONG = Duration.ofHours(1);

    private final Workbench bench = new Workbench();
    private final EasyCacheEngine cache = bench.node();
    private final CacheKey<String> key = Workbench.ap().key(1);

    static Stream<Arguments> values() {
        return Stream.of(
                Arguments.of("", String.class),
                Arguments.of(0, Integer.class),
                Arguments.of(false, Boolean.class),
                Arguments.of(List.of(), new ParameterizedTypeReference<List<String>>() {}.getType()),
                Arguments.of(Map.of(), new ParameterizedTypeReference<Map<String, Long>>() {}.getType()),
                Arguments.of(Optional.empty(), new ParameterizedTypeReference<Optional<String>>() {}.getType()),
                Arguments.of(Optional.of(""), new ParameterizedTypeReference<Optional<String>>() {}.getType()),
                Arguments.of(null, String.class));
    }

    @ParameterizedTest
    @MethodSource("values")
    void comeBackAsThemselves(@Nullable Object value, Type type) {
        CacheKey<Object> any = CacheSpec.of("any", type).key(1);
        assertThat(cache.fetch(any, () -> value)).isEqualTo(value);
        assertThat(cache.fetch(any, () -> "never")).isEqualTo(value);
        assertThat(bench.events.next()).containsExactly("miss", "load STORED", "hit FRESH");
    }

    static Stream<byte[]> garbage() {
        return Stream.of(
                new byte[0],
                new byte[] {Envelope.VERSION},
                bytes("gar"),
                bytes("garbage that is long enough"),
                new byte[] {Envelope.VERSION, 99, 1, 2},
                new byte[] {Envelope.VERSION + 1, 0, '"', 'a', '"'},
                new byte[] {Envelope.VERSION, 0, '{', '"', 'a'});
    }

    @ParameterizedTest
    @MethodSource("garbage")
    void giveWayToTheLoadersWhereNobodyCanReadThem(byte[] bytes) {
        bench.store.spoil(key, bytes);
        assertThat(cache.fetch(key, () -> "value")).isEqualTo("value");
        assertThat(bench.events.next()).containsExactly("unreadable", "miss", "load STORED");
        assertThat(cache.fetch(key, () -> "never")).isEqualTo("value");
    }

    @Test
    void giveWayInsideAWindowToo() {
        bench.store.spoil(key, bytes("garbage"));
        cache.invalidate(key);
        assertThat(cache.fetch(key, () -> "value")).isEqualTo("value");
        assertThat(cache.fetch(key, () -> "never")).isEqualTo("value");
    }

    @Test
    void giveWayToOneLoadForAHundredReaders() throws Exception {
        // A reader that polls moves the clock of the test. The clock stands still until the load may end, and the load
        // lease and the waiting time outlast the rest.
        CountDownLatch mayPoll = new CountDownLatch(1);
        bench.clock.onPause(() -> awaitUninterruptibly(mayPoll));
        CacheKey<String> key = Workbench.ap()
                .withOptions(CacheOptions.builder()
                        .ttlJitter(0)
                        .loadLease(LONG)
                        .loadWaitTimeout(LONG)
                        .build())
                .key(1);
        bench.store.spoil(key, bytes("garbage"));
        GatedLoader<String> loader = new GatedLoader<>(() -> "value");
        List<Caller<String>> readers = Workbench.call(100, () -> cache.fetch(key, loader));
        loader.awaitEntered();
        readers.forEach(Caller::awaitWaiting);
        loader.letGo();
        mayPoll.countDown();
        for (Caller<String> reader : readers) {
            assertThat(reader.result()).isEqualTo("value");
        }
        assertThat(loader.loads()).isEqualTo(1);
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void stayWhereSomebodyWhoReadGarbageComesLate() throws Exception {
        bench.store.spoil(key, bytes("garbage"));
        Held removeUnreadable = bench.store.hold(Operation.REMOVE_UNREADABLE);
        Caller<String> late = Workbench.call(() -> cache.fetch(key, () -> "never"));
        removeUnreadable.awaitReached();
        assertThat(bench.node().fetch(key, () -> "value")).isEqualTo("value");
        removeUnreadable.release();
        assertThat(late.result()).isEqualTo("value");
        assertThat(bench.store.parts(key)).containsExactly("value");
    }

    @Test
    void areNotStoredWhereTheCodecCannotTakeThem() {
        for (Throwable failure :
                List.of(new IllegalStateException("no form"), new StackOverflowError(), new NoClassDefFoundError())) {
            EasyCacheEngine odd = bench.node(new BrokenCodec(failure, null));
            AtomicInteger loads = new AtomicInteger();
            assertThat(odd.fetch(key, () -> "value " + loads.incrementAndGet())).isEqualTo("value 1");
            assertThat(odd.fetch(key, () -> "value " + loads.incrementAndGet())).isEqualTo("value 2");
            assertThat(bench.store.count(Operation.STORE)).isZero();
        }
    }

    @Test
    void areNotStoredWhereTheCodecCannotRestoreThem() {
        EasyCacheEngine odd = bench.node(new BrokenCodec(null, new NoClassDefFoundError()));
        AtomicInteger loads = new AtomicInteger();
        assertThat(odd.fetch(key, () -> "value " + loads.incrementAndGet())).isEqualTo("value 1");
        assertThat(odd.fetch(key, () -> "value " + loads.incrementAndGet())).isEqualTo("value 2");
        assertThat(bench.events.next()).containsExactly("miss", "load NOT_STORED", "miss", "load NOT_STORED");
    }

    @Test
    void areLoadedBesideAStoreThatKeepsBringingGarbage() {
        Loader<String, RuntimeException> loader = () -> "value";
        bench.store.spoil(key, bytes("garbage"));
        bench.store.fail(Operation.REMOVE_UNREADABLE, Fault.LOST_REQUEST);
        assertThat(cache.fetch(key, loader)).isEqualTo("value");
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private record BrokenCodec(@Nullable Throwable encoding, @Nullable Throwable decoding) implements ValueCodec {

        private static final ValueCodec WHOLE = new JacksonValueCodec();

        @Override
        public byte[] encode(Object value, Type type) {
            fail(encoding);
            return WHOLE.encode(value, type);
        }

        @Override
        public Object decode(byte[] bytes, Type type) {
            fail(decoding);
            return WHOLE.decode(bytes, type);
        }

        private static void fail(@Nullable Throwable failure) {
            if (failure instanceof Error error) {
                throw error;
            }
            if (failure instanceof RuntimeException exception) {
                throw exception;
            }
        }
    }
}
