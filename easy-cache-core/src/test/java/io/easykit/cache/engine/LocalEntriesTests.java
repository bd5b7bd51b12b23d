package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.caffeine.CaffeineLocalLevel;
import io.easykit.cache.engine.ValueEnvelopes.Decoded;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.store.LocalLevel;
import io.easykit.cache.type.ImmutableTypes;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.core.ResolvableType;

class LocalEntriesTests {

    private final LocalLevel level = new CaffeineLocalLevel(10);
    private final LocalEntries entries = entries(level);
    private final CacheKey<String> key = CacheSpec.of("name", String.class).key(1);
    private final CacheKey<List<String>> names =
            CacheSpec.<List<String>>of("names", typeOfNames()).key(1);

    record Point(int x, BigDecimal y) {}

    record Line(Point from, Point to, Optional<Instant> drawn) {}

    record Shape(List<Point> points) {}

    record Tree(String name, Tree left) {}

    record Box<T>(T content) {}

    private static LocalEntries entries(LocalLevel level) {
        return entries(level, Duration.ofMinutes(1));
    }

    private static LocalEntries entries(LocalLevel level, Duration ttl) {
        return new LocalEntries(level, new ValueEnvelopes(new JacksonValueCodec(), Ticker.SYSTEM), ttl, any -> true);
    }

    @Test
    void keepWhatWasPutIn() {
        entries.put(key, "Ada", entries.stamp(key), Duration.ZERO);
        assertThat(entries.get(key)).isEqualTo(new Decoded<>("Ada"));
        entries.put(key, null, entries.stamp(key), Duration.ZERO);
        assertThat(entries.get(key)).isEqualTo(new Decoded<>(null));
    }

    @Test
    void refuseWhatWasLoadedBeforeAnInvalidation() {
        long stamp = entries.stamp(key);
        entries.invalidate(key);
        entries.put(key, "old", stamp, Duration.ZERO);
        assertThat(entries.get(key)).isNull();
        entries.put(key, "new", entries.stamp(key), Duration.ZERO);
        assertThat(entries.get(key)).isEqualTo(new Decoded<>("new"));
    }

    @Test
    void refuseWhatWasLoadedBeforeTheyWereCleared() {
        entries.put(key, "old", entries.stamp(key), Duration.ZERO);
        long stamp = entries.stamp(key);
        entries.clear();
        assertThat(entries.get(key)).isNull();
        entries.put(key, "old", stamp, Duration.ZERO);
        assertThat(entries.get(key)).isNull();
    }

    /** A load may stand still between its check and its put. */
    @ParameterizedTest
    @EnumSource(Change.class)
    void neverReturnWhatIsPutInAfterAChange(Change change) {
        List<@Nullable Decoded<String>> seen = new ArrayList<>();
        SlowLevel slow = new SlowLevel();
        LocalEntries late = entries(slow);
        long stamp = late.stamp(key);
        slow.beforePut = any -> change.run(late, key);
        slow.afterPut = any -> seen.add(late.get(key));

        late.put(key, "old", stamp, Duration.ZERO);

        seen.add(late.get(key));
        assertThat(seen).hasSize(2).containsOnlyNulls();
        slow.beforePut = any -> {};
        late.put(key, "new", late.stamp(key), Duration.ZERO);
        assertThat(late.get(key)).isEqualTo(new Decoded<>("new"));
    }

    private enum Change {
        INVALIDATED {
            @Override
            void run(LocalEntries entries, CacheKey<?> key) {
                entries.invalidate(key);
            }
        },
        PREFIX_CLEARED {
            @Override
            void run(LocalEntries entries, CacheKey<?> key) {
                entries.clear(key.spec().prefix());
            }
        },
        ALL_CLEARED {
            @Override
            void run(LocalEntries entries, CacheKey<?> key) {
                entries.clear();
            }
        };

        abstract void run(LocalEntries entries, CacheKey<?> key);
    }

    @Test
    void keepTheOtherPrefixesWhenOneIsCleared() {
        entries.put(key, "Ada", entries.stamp(key), Duration.ZERO);
        long stamp = entries.stamp(names);

        entries.clear("other");

        entries.put(names, List.of("Ada"), stamp, Duration.ZERO);
        assertThat(entries.get(key)).isEqualTo(new Decoded<>("Ada"));
        assertThat(entries.get(names)).isEqualTo(new Decoded<>(List.of("Ada")));
    }

    @Test
    void giveEachReaderACopyOfWhatCanBeChanged() {
        List<String> mine = new ArrayList<>(List.of("Ada"));
        entries.put(names, mine, entries.stamp(names), Duration.ZERO);
        mine.add("Bob");
        entries.get(names).value().add("Eve");
        assertThat(entries.get(names).value()).containsExactly("Ada");
    }

    @Test
    void shareWhatNobodyCanChange() {
        String text = new String("Ada");
        entries.put(key, text, entries.stamp(key), Duration.ZERO);
        assertThat(entries.get(key).value()).isSameAs(text);
    }

    /** Two caches of one prefix may have different types. */
    @Test
    void missWhatAnotherTypeHas() {
        Instant now = Instant.now();
        assertMissed("Ada", String.class, Point.class);
        assertMissed(new Point(1, BigDecimal.ONE), Point.class, Line.class);
        assertMissed(new Point(1, BigDecimal.ONE), Point.class, Shape.class);
        assertMissed(1, int.class, long.class);
        assertMissed(Optional.of(now), optional(Instant.class), Instant.class);
        assertMissed(Optional.of(now), optional(Instant.class), optional(String.class));
        assertMissed(List.of("Ada"), names.spec().type(), String.class);
        assertMissed(new Shape(List.of()), Shape.class, Point.class);
        Type anything =
                ResolvableType.forClassWithGenerics(List.class, Object.class).getType();
        assertMissed(List.of("Ada"), names.spec().type(), anything);
        put(Optional.of(now), optional(Instant.class));
        assertThat(entries.get(typed(optional(Instant.class)))).isEqualTo(new Decoded<>(Optional.of(now)));
    }

    private void assertMissed(Object value, Type put, Type other) {
        put(value, put);
        assertThat(entries.get(typed(put))).as("%s read as it was put", value).isEqualTo(new Decoded<>(value));
        assertThat(entries.get(typed(other))).as("%s read as %s", value, other).isNull();
    }

    private void put(Object value, Type type) {
        entries.put(typed(type), value, entries.stamp(typed(type)), Duration.ZERO);
    }

    private static CacheKey<Object> typed(Type type) {
        return CacheSpec.<Object>of("typed", type).key(1);
    }

    private static Type typeOfNames() {
        return new ParameterizedTypeReference<List<String>>() {}.getType();
    }

    private static Type optional(Class<?> of) {
        return ResolvableType.forClassWithGenerics(Optional.class, of).getType();
    }

    @Test
    void knowWhatNobodyCanChange() {
        for (Class<?> type : List.of(
                String.class,
                int.class,
                Long.class,
                UUID.class,
                TimeUnit.class,
                Instant.class,
                Point.class,
                Line.class)) {
            assertThat(ImmutableTypes.contain(type)).as(type.getName()).isTrue();
        }
        for (Class<?> type : List.of(
                Object.class, List.class, int[].class, StringBuilder.class, Shape.class, Tree.class, Box.class)) {
            assertThat(ImmutableTypes.contain(type)).as(type.getName()).isFalse();
        }
        assertThat(ImmutableTypes.contain(names.spec().type())).isFalse();
        assertThat(ImmutableTypes.contain(new ParameterizedTypeReference<Optional<Point>>() {}.getType()))
                .isTrue();
        assertThat(ImmutableTypes.contain(new ParameterizedTypeReference<Optional<Shape>>() {}.getType()))
                .isFalse();
    }

    static Stream<Arguments> lives() {
        CacheOptions options = CacheOptions.builder()
                .ttl(Duration.ofSeconds(40))
                .nullTtl(Duration.ofSeconds(20))
                .build();
        CacheSpec<Object> text = CacheSpec.<Object>of("text", String.class).withOptions(options);
        CacheSpec<Object> list = CacheSpec.<Object>of("list", typeOfNames()).withOptions(options);
        CacheSpec<Object> maybe =
                CacheSpec.<Object>of("maybe", optional(String.class)).withOptions(options);
        CacheSpec<Object> ten = text.withOptions(CacheOptions.defaults());
        return Stream.of(
                Arguments.of("ttl", text, "Ada", 40),
                Arguments.of("ttl, of bytes", list, List.of("Ada"), 40),
                Arguments.of("null-ttl", text, null, 20),
                Arguments.of("null-ttl, of bytes", list, null, 20),
                Arguments.of("null-ttl of an Optional", maybe, Optional.empty(), 20),
                Arguments.of("its own TTL", text.withValueTtl(any -> Duration.ofSeconds(30)), "Ada", 30),
                Arguments.of("more than the ttl", text.withValueTtl(any -> Duration.ofSeconds(50)), "Ada", 40),
                Arguments.of("local.ttl", ten, "Ada", 60),
                Arguments.of("local.ttl, of nothing", ten, null, 60));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("lives")
    void liveNoLongerThanInTheStore(String name, CacheSpec<Object> spec, @Nullable Object value, int seconds) {
        CacheKey<Object> one = spec.key(1);
        entries.put(one, value, entries.stamp(one), Duration.ofSeconds(seconds));
        assertThat(entries.get(one)).isNull();
        entries.put(one, value, entries.stamp(one), Duration.ofSeconds(seconds - 15));
        assertThat(entries.get(one)).isEqualTo(new Decoded<>(value));
    }

    @Test
    void areBounded() {
        for (int id = 0; id < 1000; id++) {
            CacheKey<String> one = key.spec().key(id);
            entries.put(one, "value", entries.stamp(one), Duration.ZERO);
        }
        assertThat(level.size()).isLessThanOrEqualTo(10);
    }

    @Test
    void areForgottenAtTheEndOfTheirLife() {
        LocalEntries brief = entries(level, Duration.ofNanos(1));
        brief.put(key, "value", brief.stamp(key), Duration.ZERO);
        assertThat(brief.get(key)).isNull();
    }
}
