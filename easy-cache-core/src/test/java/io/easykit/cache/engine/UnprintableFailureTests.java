package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Reload;
import io.easykit.cache.StaleOnErrorOptions;
import io.easykit.cache.ValueCodec;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.engine.Workbench.GatedLoader;
import io.easykit.cache.jackson.JacksonValueCodec;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Exceptions of the application whose own methods throw, as one that reads a field that is null. They are no other failure. */
@Timeout(60)
class UnprintableFailureTests {

    private static final Duration TTL = Duration.ofSeconds(10);
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final Workbench bench = new Workbench();
    private final EasyCacheEngine cache = bench.node();
    private final Unprintable failure = new Unprintable();

    static final class Unprintable extends RuntimeException {

        private static final long serialVersionUID = 1L;

        @Override
        public String getMessage() {
            throw new NullPointerException("no text");
        }

        @Override
        public synchronized Throwable getCause() {
            throw new NullPointerException("no cause");
        }
    }

    private static CacheSpec<String> keptSpec() {
        return withOptions(CacheOptions.builder().staleOnError(StaleOnErrorOptions.keptFor(TTL)));
    }

    private static CacheSpec<String> withOptions(CacheOptions.Builder options) {
        return Workbench.ap()
                .withOptions(options.ttl(TTL)
                        .ttlJitter(0)
                        .refreshAhead(Duration.ZERO)
                        .build());
    }

    private String fail() {
        throw failure;
    }

    @Test
    void theOwnerGetsItAndTheReadersThatWaitLoad() throws Exception {
        CacheSpec<String> spec = withOptions(CacheOptions.builder().loadWaitTimeout(Duration.ofSeconds(50)));
        CacheKey<String> key = spec.key(1);
        GatedLoader<String> gated = new GatedLoader<>(() -> "unused");
        Caller<Throwable> owner =
                Workbench.call(() -> catchThrowable(() -> cache.fetch(key, () -> gated.load() + fail())));
        gated.awaitEntered();
        Caller<Throwable> waits = Workbench.call(() -> catchThrowable(() -> cache.fetch(key, this::fail)));
        waits.awaitWaiting();

        gated.letGo();

        assertThat(owner.result()).isSameAs(failure);
        assertThat(waits.result()).isSameAs(failure);
    }

    @Test
    void readersGetExpiredValuesAndElseTheException() {
        CacheKey<String> key = keptSpec().key(1);
        cache.fetch(key, () -> "old");
        bench.clock.advance(TTL);

        assertThat(cache.fetch(key, this::fail)).isEqualTo("old");
        bench.clock.advance(TTL);
        assertThat(catchThrowable(() -> cache.fetch(key, this::fail))).isSameAs(failure);
    }

    @Test
    void readersOfABatchGetExpiredValues() {
        CacheSpec<String> spec = keptSpec();
        List<Integer> ids = List.of(1, 2);
        cache.fetchAll(spec, ids, new BatchSource());
        bench.clock.advance(TTL);

        assertThat(cache.fetchAll(spec, ids, missing -> {
                    throw failure;
                }))
                .isEqualTo(Map.of(1, "1", 2, "2"));
    }

    @ParameterizedTest
    @EnumSource(Reload.class)
    void readersInTheStaleWindowGetTheOlderValue(Reload reload) {
        CacheSpec<String> spec =
                withOptions(CacheOptions.builder().staleWindow(SECOND).reload(reload));
        cache.fetch(spec.key(1), () -> "old");
        cache.fetch(spec.key(2), () -> "old");
        bench.node().invalidate(spec.key(1));
        bench.node().invalidate(spec.key(2));

        assertThat(cache.fetch(spec.key(1), this::fail)).isEqualTo("old");
        assertThat(cache.fetchAll(spec, List.of(1, 2), missing -> {
                    throw failure;
                }))
                .isEqualTo(Map.of(1, "old", 2, "old"));
        bench.background.runAll();
    }

    @Test
    void aValueWhoseTtlCannotBeComputedIsReturned() {
        CacheSpec<String> spec = Workbench.ap().withValueTtl(any -> {
            throw failure;
        });

        assertThat(cache.fetch(spec.key(1), () -> "value")).isEqualTo("value");
    }

    @Test
    void aListenerThatThrowsItDisturbsNoReader() {
        EasyCacheEngine heard = bench.builder(new JacksonValueCodec())
                .listener(new CacheListener() {
                    @Override
                    public void onMiss(CacheKey<?> key) {
                        throw failure;
                    }

                    @Override
                    public void onHit(CacheKey<?> key, Hit hit) {
                        throw new NoClassDefFoundError("a meter");
                    }
                })
                .buildStopped();
        CacheKey<String> key = Workbench.ap().key(1);

        assertThat(heard.fetch(key, () -> "value")).isEqualTo("value");
        assertThat(heard.fetch(key, this::fail)).isEqualTo("value");
    }

    @Test
    void aCodecThatCannotDescribeItsFailureMakesAMiss() {
        CacheKey<String> key = Workbench.ap().key(1);
        cache.fetch(key, () -> "old");
        EasyCacheEngine other = bench.node(new ValueCodec() {
            @Override
            public byte[] encode(Object value, Type type) {
                throw failure;
            }

            @Override
            public Object decode(byte[] bytes, Type type) {
                throw failure;
            }

            @Override
            public String describe(Throwable error) {
                return String.valueOf(error.getMessage());
            }
        });

        assertThat(other.fetch(key, () -> "new")).isEqualTo("new");
    }
}
