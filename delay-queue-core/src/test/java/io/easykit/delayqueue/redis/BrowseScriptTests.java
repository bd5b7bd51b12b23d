package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.frame;
import static io.easykit.delayqueue.redis.TestShard.ms;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.MessageInfo.ErrorNote;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.admin.ErrorGroup;
import io.easykit.delayqueue.store.Browse;
import io.easykit.delayqueue.store.Browsed;
import io.easykit.delayqueue.store.DeadLetterErrors;
import io.easykit.delayqueue.store.Position;
import io.easykit.delayqueue.store.StoredMessage.History;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** browse.lua and triage.lua. The profile {@code heavy} turns the pages of 100,000 messages of one time as well. */
class BrowseScriptTests {

    private final TestShard shard = new TestShard();

    @AfterEach
    void close() {
        shard.close();
    }

    private Browsed browse(State place, boolean newestFirst, Position after, int count) {
        return shard.store.browse(KEY, new Browse(place, newestFirst, after, count, 4));
    }

    private static List<String> ids(Browsed page) {
        return page.entries().stream().map(Browsed.Entry::id).toList();
    }

    @Test
    void readsAPageWithHistoryLastErrorAndTheBeginningOfTheFrame() {
        shard.seed(
                """
                ZADD dead 700 a 800 b 900 c
                MSET m:a one
                MSET m:b seventeen
                MSET m:c three
                HSET state a 5:3:1:2:600:o b 6:0:3:0:810:p c 7:1:0:0:820:p
                HSET errors Fa 1:o:x La 1:o:y""");
        String before = shard.state();

        assertThat(browse(State.DEAD, false, null, 1))
                .isEqualTo(new Browsed(
                        3,
                        0,
                        List.of(new Browsed.Entry(
                                new Position("700", "a"),
                                ms(700),
                                new History(5, 3, 1, 2, ms(600), "o"),
                                new ErrorNote(ms(1), "o", "y"),
                                3,
                                frame("one"),
                                null))));
        Browsed behind = browse(State.DEAD, false, new Position("700", "a"), 10);
        assertThat(ids(behind)).containsExactly("b", "c");
        assertThat(behind.before()).isEqualTo(1);
        assertThat(behind.entries().get(0).frame()).isEqualTo(frame("seve"));
        assertThat(behind.entries().get(0).size()).isEqualTo(9);
        assertThat(ids(browse(State.DEAD, true, null, 2))).containsExactly("c", "b");
        assertThat(browse(State.DEAD, true, new Position("800", "b"), 2)).satisfies(page -> {
            assertThat(ids(page)).containsExactly("a");
            assertThat(page.before()).isEqualTo(2);
        });
        assertThat(browse(State.WAITING, false, null, 10)).isEqualTo(new Browsed(0, 0, List.of()));
        assertThat(shard.state()).isEqualTo(before);
    }

    /** '<' of Lua would order these by the locale, and Redis orders them by their bytes. */
    @Test
    void continuesAmongEqualTimesByTheBytesOfTheIds() {
        List<String> ids = List.of("A", "Z", "_", "a", "aa", "z", "~0~x", "\u00e9", "\u4e2d", "\ud83d\ude00");
        ids.forEach(id -> shard.redis().command("ZADD", "dq:{t:0}:waiting", "5", id));
        for (int i = 0; i < ids.size(); i++) {
            Position at = new Position("5", ids.get(i));
            Browsed upwards = browse(State.WAITING, false, at, 100);
            assertThat(ids(upwards)).isEqualTo(ids.subList(i + 1, ids.size()));
            assertThat(upwards.before()).isEqualTo(i + 1);
            assertThat(ids(browse(State.WAITING, true, at, 100))).isEqualTo(reversed(ids.subList(0, i)));
        }
        assertThat(ids(browse(State.WAITING, false, new Position("5", "b"), 100)))
                .startsWith("z");
        assertThat(ids(browse(State.WAITING, true, new Position("5", "b"), 100)))
                .startsWith("aa");
        assertThat(ids(browse(State.WAITING, false, new Position("4", "z"), 100)))
                .startsWith("A");
        assertThat(ids(browse(State.WAITING, false, new Position("6", "A"), 100)))
                .isEmpty();
    }

    private static List<String> reversed(List<String> list) {
        List<String> reversed = new ArrayList<>(list);
        Collections.reverse(reversed);
        return reversed;
    }

    @Test
    void readsTimesThatAreNone() {
        shard.seed("ZADD waiting -inf a 1.5 b 1e300 c inf d");

        List<String> all = new ArrayList<>();
        Position after = null;
        for (Browsed page = browse(State.WAITING, false, null, 1);
                !page.entries().isEmpty();
                page = browse(State.WAITING, false, after, 1)) {
            after = page.entries().get(0).position();
            all.addAll(ids(page));
        }

        assertThat(all).containsExactly("a", "b", "c", "d");
    }

    /** Loaded in one script, which takes part of a second. */
    private void load(int count, String score) {
        shard.redis()
                .command(
                        "EVAL",
                        "for i = 1, ARGV[1] do redis.call('ZADD', KEYS[1], " + score
                                + ", string.format('id-%06d', (i * 7919) % 100003)) end",
                        "1",
                        "dq:{t:0}:dead",
                        String.valueOf(count));
    }

    @ParameterizedTest
    @CsvSource({"10000, 1700000000000", "5000, 1700000000000 + i % 10", "5000, 1700000000000 + i"})
    void seesEachOfManyOnceInEitherOrder(int count, String score) {
        browseAll(count, score);
    }

    @ParameterizedTest
    @CsvSource({"100000, 1700000000000", "10000, 1700000000000 + i % 10", "10000, 1700000000000 + i"})
    @Tag("heavy")
    void seesEachOfVeryManyOnceInEitherOrder(int count, String score) {
        browseAll(count, score);
    }

    private void browseAll(int count, String score) {
        load(count, score);
        List<Position> all = new ArrayList<>();
        for (boolean newestFirst : List.of(false, true)) {
            List<Position> seen = new ArrayList<>();
            Position after = null;
            do {
                Browsed page = shard.store.browse(KEY, new Browse(State.DEAD, newestFirst, after, 100, 0));
                assertThat(page.total()).isEqualTo(count);
                assertThat(page.before()).isEqualTo(seen.size());
                page.entries().forEach(entry -> seen.add(entry.position()));
                after = page.hasMore() ? seen.get(seen.size() - 1) : null;
            } while (after != null);
            Comparator<Position> order = Comparator.naturalOrder();
            assertThat(seen)
                    .hasSize(count)
                    .doesNotHaveDuplicates()
                    .isSortedAccordingTo(newestFirst ? order.reversed() : order);
            all = seen;
        }
        Position last = null;
        int errors = 0;
        DeadLetterErrors page;
        do {
            page = shard.store.errors(KEY, last, DeadLetterErrors.MOST);
            errors += page.entries().size();
            last = page.entries().isEmpty()
                    ? null
                    : page.entries().get(page.entries().size() - 1).position();
        } while (last != null);
        assertThat(errors).isEqualTo(all.size());
    }

    /** Other messages die, are redriven and are purged while an operator turns the pages. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void seesEachMessageThatStayedOnceWhileOthersComeAndGo(boolean newestFirst) {
        Set<String> stayed = new TreeSet<>();
        for (int i = 0; i < 600; i++) {
            String id = "m" + i;
            shard.redis().command("ZADD", "dq:{t:0}:dead", String.valueOf(5000 + i / 40), id);
            shard.redis().command("SET", "dq:{t:0}:m:" + id, "body");
            if (i % 3 == 0) {
                stayed.add(id);
            }
        }
        List<String> seen = new ArrayList<>();
        Position after = null;
        int turn = 0;
        do {
            Browsed page = browse(State.DEAD, newestFirst, after, 20);
            seen.addAll(ids(page));
            after = page.hasMore()
                    ? page.entries().get(page.entries().size() - 1).position()
                    : null;
            for (int i = turn * 30; i < turn * 30 + 30 && i < 600; i++) {
                DeadLetterRef death = new DeadLetterRef("m" + i, ms(5000 + i / 40));
                if (i % 3 == 1) {
                    shard.store.redrive(KEY, List.of(death));
                } else if (i % 3 == 2) {
                    shard.store.purge(KEY, List.of(death));
                }
                shard.redis().command("ZADD", "dq:{t:0}:dead", String.valueOf(5000 + i % 15), "new" + i);
            }
            turn++;
        } while (after != null);

        assertThat(seen).doesNotHaveDuplicates();
        assertThat(seen).containsAll(stayed);
    }

    @Test
    void answersShortlyAboutLargeMessages() {
        shard.redis()
                .command(
                        "EVAL",
                        "local body, error = string.rep('x', 131072), '1:o:' .. string.rep('y', 4000) "
                                + "for i = 1, 100 do local id = string.format('large-%03d', i) "
                                + "redis.call('SET', KEYS[1] .. 'm:' .. id, body) redis.call('ZADD', KEYS[1] .. 'dead', i, id) "
                                + "redis.call('HSET', KEYS[1] .. 'state', id, '5:3:1:2:600:owner') "
                                + "redis.call('HSET', KEYS[1] .. 'errors', 'L' .. id, error) end",
                        "1",
                        "dq:{t:0}:");
        long before = sent();

        Browsed page = shard.store.browse(KEY, new Browse(State.DEAD, false, null, 100, 512));

        assertThat(page.entries()).hasSize(100).allMatch(entry -> entry.size() == 1 << 17);
        assertThat(page.entries()).allMatch(entry -> entry.frame().length() == 512);
        assertThat(sent() - before).isLessThan(200_000);
    }

    /** Bytes that the server has sent. */
    private long sent() {
        return Long.parseLong(String.valueOf(shard.redis().info("stats").get("total_net_output_bytes"))
                .trim());
    }

    @Test
    void keepsThePartsOfALongErrorThatShowItsGroup() {
        String error = "org.shop.Outer: " + "o".repeat(900) + "\ncaused by org.shop.Middle: " + "m".repeat(900)
                + "\ncaused by org.shop.Deep: order 42 is closed" + "d".repeat(500)
                + "\n  at java.base/java.util.Optional.get(Optional.java:143)"
                + "\n  at org.shop.OrderService.close(OrderService.java:42)"
                + "\n  at org.shop.Other.call(Other.java:1)".repeat(20);
        shard.redis().command("ZADD", "dq:{t:0}:dead", "700", "a");
        shard.redis().command("HSET", "dq:{t:0}:errors", "La", "1:node-1:" + error);

        Browsed.Entry entry = browse(State.DEAD, false, null, 1).entries().get(0);
        DeadLetterErrors.Entry brief =
                shard.store.errors(KEY, null, 1).entries().get(0);

        assertThat(entry.lastError()).isNotNull().satisfies(note -> {
            assertThat(note.owner()).isEqualTo("node-1");
            assertThat(note.text()).startsWith("org.shop.Outer: o").hasSizeLessThan(1000);
            assertThat(note.text()).isEqualTo(brief.error());
        });
        assertThat(ErrorGroup.of(String.valueOf(brief.error())))
                .isEqualTo(ErrorGroup.of(error))
                .satisfies(group -> assertThat(group.type()).isEqualTo("org.shop.Deep"))
                .satisfies(group -> assertThat(group.frame()).isEqualTo("OrderService.close:42"));
    }

    /** The message of an exception without a cause may be long, and of more bytes than characters. */
    @Test
    void keepsTheFirstLineAndTheFramesOfALongErrorWithoutACause() {
        String error = "org.shop.Refused: " + "\u62d2".repeat(1000)
                + "\n  at org.shop.OrderService.close(OrderService.java:42)"
                + "\n  at org.shop.Other.call(Other.java:1)".repeat(20);
        shard.redis().command("ZADD", "dq:{t:0}:dead", "700", "a");
        shard.redis().command("HSET", "dq:{t:0}:errors", "La", "1:node-1:" + error);

        DeadLetterErrors.Entry brief =
                shard.store.errors(KEY, null, 1).entries().get(0);

        assertThat(brief.error())
                .isNotNull()
                .startsWith("org.shop.Refused: \u62d2\u62d2")
                .contains("\n  at org.shop.OrderService.close");
        assertThat(ErrorGroup.of(String.valueOf(brief.error()))).satisfies(group -> {
            assertThat(group.type()).isEqualTo("org.shop.Refused");
            assertThat(group.frame()).isEqualTo("OrderService.close:42");
        });
    }

    @Test
    void showsADamagedEntryAsSuchAndTheOthersAsEver() {
        shard.seed(
                """
                ZADD dead 700 a 800 b 900 c
                MSET m:a one
                RPUSH m:b garbage
                MSET m:c three
                HSET state a x:y b 6:0:3:0:810:p c 7:1:0:0:820:p
                HSET errors Fa nonsense La 1:o:y Fb 1 Lb z:o:x
                SET count:sent x
                SET count:acknowledged 7
                SET count:dead -""");

        List<Browsed.Entry> page = browse(State.DEAD, false, null, 10).entries();

        assertThat(page).extracting(Browsed.Entry::id).containsExactly("a", "b", "c");
        assertThat(page.get(0).damage()).contains("its state is unreadable: x:y");
        assertThat(page.get(0).history()).isNull();
        assertThat(page.get(0).lastError()).isEqualTo(new ErrorNote(ms(1), "o", "y"));
        assertThat(page.get(1).size()).isZero();
        assertThat(page.get(1).history()).isNotNull();
        assertThat(page.get(1).damage()).contains("last error");
        assertThat(page.get(2).damage()).isNull();
        assertThat(shard.store.find(KEY, "a").orElseThrow().damage()).contains("its first error is unreadable");
        assertThat(shard.store.stats(KEY).dead()).isEqualTo(3);
        assertThat(shard.store.stats(KEY).counters().acknowledged()).isEqualTo(7);
        assertThat(shard.store.errors(KEY, null, 10).entries())
                .extracting(DeadLetterErrors.Entry::error)
                .containsExactly("y", null, null);
    }

    @Test
    void countsAndReadsWhereErrorsCountersOrSettingsHaveAnotherType() {
        shard.seed(
                """
                ZADD dead 700 a
                SET m:a one
                SET errors x
                SET count:sent x
                SET settings x
                SET state x""");

        assertThat(shard.store.stats(KEY).dead()).isEqualTo(1);
        assertThat(browse(State.DEAD, false, null, 10).entries())
                .containsExactly(
                        new Browsed.Entry(new Position("700", "a"), ms(700), null, null, 3, frame("one"), null));
        assertThat(shard.store.errors(KEY, null, 10).entries())
                .containsExactly(new DeadLetterErrors.Entry(new Position("700", "a"), ms(700), null));
        shard.seed("SET waiting x");
        assertThatThrownBy(() -> browse(State.WAITING, false, new Position("1", "a"), 10))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("dq:{t:0}:waiting is not a sorted set");
    }

    @Test
    void showsMessagesWithoutBodyAndHistory() {
        shard.seed("ZADD waiting 1500 a");

        assertThat(browse(State.WAITING, false, null, 10).entries())
                .containsExactly(
                        new Browsed.Entry(new Position("1500", "a"), ms(1500), null, null, 0, frame(""), null));
    }
}
