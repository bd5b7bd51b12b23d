package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Holds the header of each script against its body. */
class ScriptHeaderTests {

    /** What the scripts may call: commands of Redis 6.2 whose cost does not grow with the keyspace. */
    private static final Set<String> COMMANDS =
            Set.of("TIME", "TYPE", "DEL", "HGET", "HMGET", "HGETALL", "HKEYS", "HSET", "HDEL", "PTTL", "PEXPIRE");

    private static final Pattern KEY_OR_ARGUMENT = Pattern.compile("(KEYS|ARGV)\\[(\\d+)]");
    private static final Pattern DESCRIBED = Pattern.compile("^-- ((?:KEYS|ARGV)\\[\\d+])  \\S.*");
    private static final Pattern CALL = Pattern.compile("redis\\.p?call\\('(\\w+)'");
    private static final Pattern RETURN = Pattern.compile("(?<!function .{0,80})\\breturn\\b");

    @ParameterizedTest
    @EnumSource(RedisScript.class)
    void headerSaysWhatTheScriptIsFor(RedisScript script) {
        assertThat(header(script).get(0))
                .matches("-- " + script.name().toLowerCase(Locale.ROOT).replace('_', '-') + ": .+");
    }

    @ParameterizedTest
    @EnumSource(RedisScript.class)
    void headerNamesTheKeyAndEveryArgumentInOrder(RedisScript script) {
        List<String> described = header(script).stream()
                .flatMap(line -> DESCRIBED.matcher(line).results())
                .map(match -> match.group(1))
                .toList();
        Set<String> used = KEY_OR_ARGUMENT
                .matcher(body(script))
                .results()
                .map(MatchResult::group)
                .collect(Collectors.toCollection(TreeSet::new));

        assertThat(described.get(0)).isEqualTo("KEYS[1]");
        assertThat(described.subList(1, described.size()))
                .isEqualTo(IntStream.range(1, described.size())
                        .mapToObj(i -> "ARGV[" + i + "]")
                        .toList());
        assertThat(used).containsExactlyInAnyOrderElementsOf(described);
    }

    @ParameterizedTest
    @EnumSource(RedisScript.class)
    void headerSaysWhatIsReturned(RedisScript script) {
        assertThat(header(script))
                .filteredOn(line -> line.startsWith("-- returns "))
                .hasSize(1);
        assertThat(RETURN.matcher(body(script)).find()).isTrue();
        String returns = header(script).stream()
                .dropWhile(line -> !line.startsWith("-- returns "))
                .collect(Collectors.joining());
        Set<String> replies = Pattern.compile("(?m)(?:return (\\d)|\\{now, '(\\w+)'|^return (\\w+)$)")
                .matcher(body(script))
                .results()
                .flatMap(match -> Stream.of(match.group(1), match.group(2), match.group(3)))
                .filter(Objects::nonNull)
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(replies).isNotEmpty().allSatisfy(reply -> assertThat(returns).contains(reply));
    }

    @ParameterizedTest
    @EnumSource(RedisScript.class)
    void timeIsReadInOneLineWhereItIsNeeded(RedisScript script) {
        boolean needed = body(script).contains("now");

        assertThat(script.text().lines().filter(line -> line.equals(Laboratory.TIME_LINE)))
                .hasSize(needed ? 1 : 0);
        assertThat(script.text().split("'TIME'", -1)).hasSize(needed ? 2 : 1);
    }

    @ParameterizedTest
    @EnumSource(RedisScript.class)
    void callsOnlyCommandsOfRedis62OnItsKey(RedisScript script) {
        assertThat(CALL.matcher(body(script)).results().map(call -> call.group(1)))
                .isSubsetOf(COMMANDS);
        assertThat(body(script).replaceAll(CALL.pattern() + "(, KEYS\\[1]|\\))", ""))
                .doesNotContain("redis.");
        assertThat(body(script).lines().filter(line -> line.contains("'PEXPIRE'")))
                .allMatch(line -> line.matches(".*'PEXPIRE', KEYS\\[1], [^,]+\\).*"), "options came with Redis 7.0");
    }

    private static List<String> header(RedisScript script) {
        return script.text().lines().takeWhile(line -> line.startsWith("--")).toList();
    }

    private static String body(RedisScript script) {
        return script.text().lines().dropWhile(line -> line.startsWith("--")).collect(Collectors.joining("\n"));
    }
}
