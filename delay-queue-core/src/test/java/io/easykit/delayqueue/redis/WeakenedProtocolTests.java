package io.easykit.delayqueue.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.redis.ProtocolChecker.Kind;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Takes one protection at a time out of the scripts: a checker that does not notice would prove nothing. */
class WeakenedProtocolTests {

    private static final int SEEDS = 150;

    enum Weakness {
        FENCE_WITHOUT_NUMBER("string.sub(state, 1, #number) == number and ", ""),
        FENCE_WITHOUT_LEASE("state and leases[i] and ", "state and "),
        REPETITION_IN_A_BATCH_COUNTS("== number and not seen[id]", "== number"),
        CLAIM_ROUNDS_UP(
                "string.format('%d', now), 'WITHSCORES'",
                "string.format('%d', math.ceil(micros / 1000)), 'WITHSCORES'", 6),
        DELAY_ROUNDS_DOWN("math.ceil(micros / 1000)", "math.floor(micros / 1000)"),
        NUMBER_WITHOUT_FLOOR("math.max(lastNumber + 1, micros)", "lastNumber + 1"),
        NUMBER_WITHOUT_MEMORY("math.max(lastNumber + 1, micros)", "micros"),
        CLAIM_FORGETS_ITS_ANSWER("last[1] == request", "false"),
        CLAIM_ANSWERS_OLD_REQUESTS("last[1] > request", "false"),
        REPLAY_WITHOUT_NUMBER("s and s.number == string.format('%d', number + i - 1) and ", "s and ", 86),
        REPLAY_WITHOUT_LEASE("+ i - 1) and redis.call('ZSCORE', inflight, id)", "+ i - 1)", 26),
        CROWD_BESIDE_A_LOST_ONE("if s and s.lost ~= '0' then", "if false then"),
        CLAIM_WHILE_PAUSED("elseif kept[2] then", "elseif false then"),
        EXTEND_SHORTENS("'XX', 'GT', unpack(leases)", "'XX', unpack(leases)"),
        SEND_OVERWRITES("ARGV[3 * i], 'NX')", "ARGV[3 * i])"),
        SEND_OVERWRITES_AT_ONCE(
                "stored == 1 then", "redis.call('MSET', unpack(bodies or {prefix .. 'm:' .. id, frame})) then"),
        SEND_STORES_A_REPEATED_ID_TWICE(" or entries and entries[id] then", " then"),
        SEND_WAKES_FOR_EACH_PAST_TIME("tonumber(earliest) >= present or", "true or"),
        REAP_TAKES_LIVE_LEASES("math.min(now, latestEnd), 'LIMIT'", "latestEnd, 'LIMIT'"),
        REAP_TAKES_LEASES_THAT_END_LATER("math.min(now, latestEnd), 'LIMIT'", "now, 'LIMIT'"),
        REAP_NEVER_BURIES("s.lost >= maxLeaseExpirations", "false"),
        RELEASE_COSTS("s.releases, s.due = s.releases + 1,", "s.failures, s.due = s.failures + 1,"),
        REDRIVE_OF_ANY_DEATH("timeOf(diedAt) == tonumber(ARGV[i + 1])", "true"),
        REDRIVE_KEEPS_BUDGETS("s.failures, s.lost, s.due = 0, 0, ", "s.due = "),
        PURGE_OF_ANY_DEATH("(aged or timeOf(diedAt[i]) == tonumber(ARGV[2 * i + 1]))", "true"),
        PURGE_COUNTS_REPETITIONS("tonumber(ARGV[2 * i + 1])) and not seen[id]", "tonumber(ARGV[2 * i + 1]))", 9),
        CANCEL_OF_ANY_INCARNATION("if code ~= 0 and not isIncarnation", "if false and not isIncarnation"),
        ERRORS_STAY("if extras > 0 then\n    local notes", "if false then\n    local notes"),
        KEY_IGNORED_BY_CLAIMS("if before and before ~= id then", "if false then"),
        KEY_HELD_BY_TWO_OF_ONE_CLAIM("key and (byKey[key] or holder[key])", "key and holder[key]"),
        KEY_FREED_BY_A_RETRY("if holding[i] and delays[i] == -2 then", "if holding[i] then"),
        KEY_FREED_BY_A_DEATH_THAT_STOPS_IT("if isDead and ARGV[4] == 'skip' then", "if isDead then"),
        KEY_FREED_WITHOUT_ITS_NEXT("local _, exposed = expose({id})\n", "local _, exposed\n", 21),
        KEY_KEEPS_ENDED_MESSAGES_PARKED("  unpark(keys)\n  local freed", "  local freed"),
        KEY_KEEPS_ITS_ENDED_HOLDER("if id == holders[i] then", "if false then"),
        KEY_FREED_BY_ANY_OF_ITS_MESSAGES("if id == holders[i] then", "if true then"),
        KEY_FREED_BY_HAND_WHILE_IN_USE(" or whereabouts(id) ~= 'dead' then", " then"),
        KEY_MAKES_ENDING_MESSAGES_DUE("leaving[id], keys[key]", "leaving[id .. '-'], keys[key]", 7),
        KEY_EXPOSES_MOVED_MESSAGES("if keys then unpark(keys) end", ""),
        KEY_PARKED_MESSAGES_ARE_DUE("nextDue and nextDue < PARKED and nextDue", "nextDue"),
        FLOW_WITHOUT_PERMITS(
                "math.min(most, flow.permits() + flow.borrowed, flow.spare())", "math.min(most, flow.spare())"),
        FLOW_WITHOUT_PLACES(
                "math.min(most, flow.permits() + flow.borrowed, flow.spare())",
                "math.min(most, flow.permits() + flow.borrowed)"),
        FLOW_COUNTS_NO_EXPIRED_LEASES(
                "redis.call('ZCARD', inflight) or 100", "redis.call('ZCOUNT', inflight, now + 1, '+inf') or 100"),
        FLOW_BUCKET_OVERFLOWS("return math.min(flow.burst * 10 ^ 6, flow.kept + ", "return (flow.kept + "),
        FLOW_WAITS_FOR_A_CLOCK_THAT_STEPPED_BACK("if flow.isLate then flow.at = micros end", ""),
        FLOW_FORGETS_THAT_THE_CLOCK_STEPPED_BACK("if changes or flow.isLate then", "if changes then"),
        FLOW_REPETITION_USES_PERMITS(
                "flow.use(math.max(0, n - flow.asked) - math.max(0, #ids - flow.asked)) end", "flow.use(n) end", 51),
        FLOW_REPETITION_KEEPS_PERMITS(
                "if flow and n < #ids then flow.use(math.max(0, n - flow.asked) - math.max(0, #ids - flow.asked)) end",
                "",
                51),
        LEND_AND_KEEPS("kept = kept - permits * 10 ^ 6", ""),
        LEND_WHAT_IT_NEEDS("if due and due <= now then return {now, 0, -1} end", ""),
        LEND_BORROWED_PERMITS_DO_NOT_LAPSE("if left >= 0 and left <= 100 then", "if left <= 100 then"),
        LEND_BORROWED_PERMITS_RETURN(
                "flow.use(math.max(0, #ids - flow.borrowed))", "flow.use(#ids - flow.borrowed)", 6),
        FLOW_USES_NO_PERMITS("if flow then flow.use(math.max(0, #ids - flow.borrowed)) end", ""),
        FLOW_NEXT_PERMIT_IS_EARLY("return math.ceil((flow.at", "return math.floor((flow.at"),
        FLOW_WAKES_NOBODY("exposed = exposed or hasPlace and flow.isAwaited", ""),
        FLOW_FORGETS_WHO_WAITS("if changes then flow.isAwaited = not hasPlace end", ""),
        WAKEUP_ONLY_WHEN_EMPTY("string.format('%d', math.max(due, now))", "'+inf'");

        final String protection;
        final String replacement;
        final int firstSeed;

        Weakness(String protection, String replacement) {
            this(protection, replacement, 1);
        }

        /** @param firstSeed of the seeds that are tried; the one that was the first to notice saves the others before it */
        Weakness(String protection, String replacement, int firstSeed) {
            this.protection = protection;
            this.replacement = replacement;
            this.firstSeed = firstSeed;
        }
    }

    /** The order of writes, and what takes the first half back. */
    enum HalfRun {
        CLAIM_REMOVES_FIRST(
                "claim",
                "\n    or errorOf(redis.pcall('ZREM', waiting, unpack(ids))) -- last, so that a message is never in no place",
                "if not hasWritten then allowWhenFull() end",
                "redis.call('ZREM', waiting, unpack(ids))"),
        FAIL_REMOVES_FIRST(
                "give up: fail",
                "\nredis.call('ZREM', inflight, unpack(leaving))",
                "allowWhenFull()\nfor n, id",
                "redis.call('ZREM', inflight, unpack(leaving))\nfor n, id"),
        RELEASE_REMOVES_FIRST(
                "give up: release",
                "\nredis.call('ZREM', inflight, unpack(released))",
                "allowWhenFull()\nfor n, id",
                "redis.call('ZREM', inflight, unpack(released))\nfor n, id"),
        REAP_REMOVES_FIRST(
                "reap",
                "\n  redis.call('ZREM', inflight, unpack(ids))",
                "  allowWhenFull()\n  for i, id",
                "  redis.call('ZREM', inflight, unpack(ids))\n  for i, id"),
        REDRIVE_REMOVES_FIRST(
                "redrive",
                "\n  redis.call('ZREM', dead, unpack(moved))",
                "  redis.call('ZADD', waiting",
                "  redis.call('ZREM', dead, unpack(moved))\n  redis.call('ZADD', waiting"),
        SEND_LEAVES_BODIES(
                "send", "if string.sub(codes, i, i) == '1' then redis.pcall('UNLINK', message(ARGV[3 * i - 2])) end"),
        SEND_LEAVES_BODIES_OF_THE_FIRST_PART(
                "send new ones", "    for i = 1, n do try('UNLINK', prefix .. 'm:' .. args[3 * i - 2]) end\n"),
        SEND_LEAVES_COUNTS_OF_THE_FIRST_PART("send one", "      try('INCRBY', total, '-' .. sent)\n"),
        SEND_LEAVES_COUNTS("send", "if isCounted then pcall(count, 'sent', -stored) end"),
        SEND_TRUSTS_BODIES("send", "", "if whereabouts(id) ~= 'lost' then", "if true then"),
        END_TAKES_NOTHING_BACK("acknowledge", "    redis.pcall('ZADD', place, unpack(entries))\n"),
        END_LEAVES_COUNTS("purge", "if isCounted then pcall(count, counter, -#ids) end"),
        SWEEP_PUTS_NOTHING_BACK("acknowledge", "if #lost > 0 then putBack(lost) end");

        final String step;
        final String removed;
        final String protection;
        final String replacement;

        HalfRun(String step, String removed) {
            this(step, removed, "", "");
        }

        HalfRun(String step, String removed, String protection, String replacement) {
            this.step = step;
            this.removed = removed;
            this.protection = protection;
            this.replacement = replacement;
        }

        String weaken(String script) {
            if (!script.contains(removed) || !script.contains(protection)) {
                return script;
            }
            String shorter = removed.isEmpty() ? script : TestShard.replaceOnce(script, removed, "");
            return protection.isEmpty() ? shorter : TestShard.replaceOnce(shorter, protection, replacement);
        }
    }

    @ParameterizedTest
    @EnumSource
    void isNoticedWhereAScriptFailsHalfWay(HalfRun weakness) {
        ScriptFaultTests.Step step = ScriptFaultTests.steps().stream()
                .filter(s -> s.name().equals(weakness.step))
                .findFirst()
                .orElseThrow();

        try (FaultyShard shard = new FaultyShard(weakness::weaken)) {
            assertThatThrownBy(() -> {
                        ScriptFaultTests.check(step, false, shard);
                        ScriptFaultTests.check(step, true, shard);
                    })
                    .isInstanceOf(AssertionError.class)
                    .hasCauseInstanceOf(AssertionError.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void isNoticed(Weakness weakness) {
        AtomicInteger weakened = new AtomicInteger();
        int noticedBy = -1;
        try (ProtocolChecker checker = new ProtocolChecker(script -> {
            if (!script.contains(weakness.protection)) {
                return script;
            }
            weakened.incrementAndGet();
            return TestShard.replaceOnce(script, weakness.protection, weakness.replacement);
        })) {
            for (int seed = weakness.firstSeed; seed < weakness.firstSeed + SEEDS && noticedBy < 0; seed++) {
                if (isNoticedBy(checker, seed, kind(weakness))) {
                    noticedBy = seed;
                }
            }
        }
        assertThat(weakened).as("scripts that hold the protection").hasPositiveValue();
        assertThat(noticedBy).as("seed that notices " + weakness).isPositive();
    }

    private static Kind kind(Weakness weakness) {
        String name = weakness.name();
        if (name.startsWith("LEND_")) {
            return Kind.LENDING;
        }
        return name.startsWith("KEY_") ? Kind.ORDERED : name.startsWith("FLOW_") ? Kind.LIMITED : Kind.PLAIN;
    }

    private static boolean isNoticedBy(ProtocolChecker checker, int seed, Kind kind) {
        try {
            checker.run(seed, 220, kind);
            return false;
        } catch (AssertionError noticed) {
            assertThat(noticed).as("a promise, not a broken script").hasCauseInstanceOf(AssertionError.class);
            return true;
        }
    }
}
