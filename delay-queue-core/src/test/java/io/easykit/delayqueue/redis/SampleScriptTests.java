package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.ms;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.admin.TopicSeries.Point;
import io.easykit.delayqueue.store.FleetStore;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** sample.lua and samples.lua. */
class SampleScriptTests {

    private static final long HOUR = 60;
    private static final long BEGIN = 28_400_040;
    private static final Duration DAY = Duration.ofHours(24);

    private final TestShard shard = new TestShard();
    private final FleetStore fleet = shard.store.fleet();

    @AfterEach
    void close() {
        shard.close();
    }

    private void minute(long minute) {
        shard.clock((BEGIN + minute) * 60_000 + 7_000);
    }

    private boolean sampleAt(long minute) {
        minute(minute);
        return fleet.sample(KEY);
    }

    private void sent(long count) {
        shard.seed("SET count:sent " + count);
    }

    private List<Point> points(Duration range) {
        return fleet.samples(KEY, range).points();
    }

    private long minuteOf(Point point) {
        return point.at().toEpochMilli() / 60_000 - BEGIN;
    }

    @Test
    void keepsCountsAndCounters() {
        minute(0);
        long now = BEGIN * 60_000 + 7_000;
        shard.seed("ZADD waiting " + (now - 70_900) + " a " + (now + 5) + " b\n" //
                + "ZADD inflight 1 c\nZADD dead 1 d 2 e 3 f\n"
                + "SET count:sent 70000\nSET count:acknowledged 300\nSET count:failed 4000000000\n"
                + "SET count:lost 5000000000\nSET count:dead 7\nSET count:cancelled 9");
        String before = shard.state();
        assertThat(fleet.sample(KEY)).isTrue();

        assertThat(points(DAY))
                .containsExactly(new Point(
                        ms(BEGIN * 60_000),
                        2,
                        1,
                        1,
                        3,
                        Duration.ofSeconds(70),
                        70_000,
                        300,
                        4_000_000_000L,
                        5_000_000_000L,
                        7));
        assertThat(shard.state().lines().filter(line -> !line.startsWith("samples ")))
                .as("everything else")
                .containsExactlyElementsOf(before.lines().toList());
        assertThat(shard.state()).contains(" EXPIRES");
    }

    @Test
    void takesOneAMinuteHoweverManyNodesCall() {
        assertThat(sampleAt(0)).isTrue();
        sent(1);
        assertThat(fleet.sample(KEY)).isFalse();
        assertThat(points(DAY)).extracting(Point::sent).containsExactly(0L);
        assertThat(sampleAt(1)).isTrue();
        assertThat(points(DAY)).extracting(Point::sent).containsExactly(0L, 1L);
    }

    @Test
    void storesNothingForMinutesWithoutAChange() {
        sent(5);
        for (long minute = 0; minute < 40 * HOUR; minute++) {
            sampleAt(minute);
        }
        assertThat(shard.state().length()).as("bytes of an idle shard").isLessThan(200);
        assertThat(points(DAY)).hasSize(24 * 60 + 1).allMatch(point -> point.sent() == 5);
        assertThat(points(Duration.ofHours(1))).hasSize(61);

        sent(6);
        sampleAt(40 * HOUR);
        assertThat(points(DAY)).hasSize(24 * 60 + 1);
        assertThat(points(Duration.ofHours(1)))
                .extracting(Point::sent)
                .contains(5L, 6L)
                .hasSize(61);
    }

    @Test
    void hasNoPointForMinutesInWhichNobodySampled() {
        sent(1);
        sampleAt(0);
        sampleAt(1);
        sent(9);
        sampleAt(10);

        assertThat(points(DAY)).extracting(this::minuteOf).containsExactly(0L, 1L, 10L);
        minute(30);
        assertThat(points(Duration.ofMinutes(25))).extracting(this::minuteOf).containsExactly(10L);
    }

    /** Compares with a plain map: random changes, gaps and hours over three days. */
    @Test
    void keepsADayWhateverHappens() {
        Random random = new Random(42);
        Map<Long, Long> expected = new HashMap<>();
        long count = 0;
        long last = 0;
        for (long minute = 0; minute < 72 * HOUR; minute += random.nextInt(20) == 0 ? random.nextInt(200) : 1) {
            if (random.nextInt(3) == 0) {
                count += random.nextInt(1000);
                sent(count);
            }
            sampleAt(minute);
            if (expected.getOrDefault(last, -1L) == count) {
                for (long between = last; between < minute; between++) {
                    expected.put(between, count); // nothing has happened meanwhile: the counters are equal
                }
            }
            expected.putIfAbsent(minute, count);
            last = minute;
        }
        long earliest = last - 24 * HOUR;
        expected.keySet().removeIf(minute -> minute < earliest);
        Map<Long, Long> found = new HashMap<>();
        points(DAY).forEach(point -> found.put(minuteOf(point), point.sent()));

        assertThat(found).isEqualTo(expected);
        assertThat(shard.redis().command("MEMORY", "USAGE", "dq:{t:0}:samples", "SAMPLES", "0"))
                .isInstanceOfSatisfying(Long.class, bytes -> assertThat(bytes).isLessThan(80_000));
    }

    @Test
    void needsAtMostSeventyTwoKilobytesForADayThatChangesEachMinute() {
        for (long minute = 0; minute < 26 * HOUR; minute++) {
            sent(1_000_000 + 60_000 * minute);
            shard.seed("SET count:acknowledged " + (999_000 + 60_000 * minute));
            sampleAt(minute);
        }

        assertThat(points(DAY)).hasSize(24 * 60 + 1);
        assertThat(shard.redis().command("MEMORY", "USAGE", "dq:{t:0}:samples", "SAMPLES", "0"))
                .isInstanceOfSatisfying(Long.class, bytes -> assertThat(bytes).isLessThan(73_728));
    }

    @Test
    void goesOnWhereTheClockWentBackOrSomebodyWroteGarbage() {
        sampleAt(10_000);
        assertThat(sampleAt(9_999)).as("a little back").isFalse();
        assertThat(sampleAt(9_998)).as("back").isTrue();
        for (long minute = 9_999; minute < 10_400; minute++) {
            sampleAt(minute);
        }
        assertThat(sampleAt(10_390)).as("back in a long run").isTrue();
        assertThat(points(Duration.ofHours(5))).extracting(this::minuteOf).contains(10_100L, 10_389L, 10_390L);
        assertThat(sampleAt(0)).as("far back").isTrue();
        assertThat(points(DAY)).extracting(this::minuteOf).containsExactly(0L);

        for (String field : List.of("from", "to", "values")) {
            for (String garbage : List.of("", "x", "99999999999999999999", "-1")) {
                shard.redis().command("HSET", "dq:{t:0}:samples", field, garbage);
                points(DAY);
                assertThat(sampleAt(1)).as(field + garbage).isTrue();
                assertThat(points(DAY)).extracting(this::minuteOf).contains(1L);
                shard.redis().command("DEL", "dq:{t:0}:samples");
            }
        }
        sampleAt(2);
        sent(1);
        sampleAt(3);
        for (String slot : slots()) {
            shard.redis().command("HSET", "dq:{t:0}:samples", slot, "garbage");
        }
        sent(2);
        assertThat(sampleAt(4)).isTrue();
        assertThat(points(DAY)).extracting(this::minuteOf).containsExactly(3L, 4L);
        shard.seed("SET count:sent garbage");
        assertThat(sampleAt(5)).isTrue();
        assertThat(points(DAY).get(2).sent()).isZero();
    }

    private List<String> slots() {
        return ((Map<?, ?>) shard.redis().snapshot().get("dq:{t:0}:samples").content())
                .keySet().stream()
                        .map(String::valueOf)
                        .filter(field -> field.matches("\\d+"))
                        .toList();
    }
}
