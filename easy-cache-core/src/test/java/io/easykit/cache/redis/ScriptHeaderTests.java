package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.redis.LuaScript;
import io.easykit.test.LuaPatterns;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Holds the header of each script against its body. */
class ScriptHeaderTests {

    /** The commands that scripts may call: those of Redis 6.2 whose cost does not grow with the keyspace. */
    private static final Set<String> COMMANDS = Set.of(
            "TIME", "TYPE", "DEL", "HGET", "HMGET", "HGETALL", "HKEYS", "HSET", "HDEL", "PTTL", "PEXPIRE", "PUBLISH");

    private static final Pattern ARGUMENT = Pattern.compile("ARGV\\[(\\d+)]");

    /** An argument of a group that begins at i. */
    private static final Pattern OF_GROUP = Pattern.compile("ARGV\\[i(?: \\+ (\\d))?]");

    private static final Pattern CALL = Pattern.compile("redis\\.p?call\\('(\\w+)'");
    private static final Pattern IN_PARTS = Pattern.compile("callInParts\\('(\\w+)'");
    private static final Pattern RETURN = Pattern.compile("(?<!function .{0,80})\\breturn\\b");

    /** A field of an entry in a script: its quoted name, or the begin of it. */
    private static final Pattern FIELD = Pattern.compile("'(v|f|s|i|i:|x|p|owner|work)'");

    private static final Set<CacheScript> NO_CONSTANTS =
            Set.of(CacheScript.PEEK, CacheScript.RAISE_EPOCH, CacheScript.ADVANCE_MARK, CacheScript.EXPLAIN);

    @ParameterizedTest
    @EnumSource(CacheScript.class)
    void headerSaysWhatTheScriptIsForAndNamesAllParts(CacheScript script) {
        List<String> header = header(script);

        assertThat(header.get(0)).matches("[A-Z].*\\.");
        assertThat(header.stream().map(line -> line.replaceAll("^(KEYS|ARGV|return|fields) .*", "$1")))
                .containsSubsequence("KEYS", "ARGV", "return", "fields");
        assertThat(List.of("KEYS", "ARGV", "return", "fields"))
                .allSatisfy(part -> assertThat(header.stream().filter(line -> line.startsWith(part + " ")))
                        .hasSize(1));
    }

    @ParameterizedTest
    @EnumSource(CacheScript.class)
    void headerNamesEveryArgument(CacheScript script) {
        String form = part(script, "ARGV").replaceAll(" {3,}.*", "");
        boolean isGroup = form.matches("\\(.*\\)\\*");
        List<String> names = form.equals("none")
                ? List.of()
                : List.of(form.replaceAll("[()*]", "").split(", ", -1));
        Set<Integer> used = (isGroup ? OF_GROUP : ARGUMENT)
                .matcher(body(script))
                .results()
                .map(match -> match.group(1))
                .map(number -> number == null ? 1 : isGroup ? 1 + Integer.parseInt(number) : Integer.parseInt(number))
                .collect(Collectors.toCollection(TreeSet::new));

        assertThat(used)
                .containsExactlyElementsOf(
                        IntStream.rangeClosed(1, names.size()).boxed().toList());
        assertThat((isGroup ? ARGUMENT : OF_GROUP).matcher(body(script)).find()).isFalse();
        assertThat(body(script).contains("for i = 1, #ARGV, " + names.size() + " do"))
                .isEqualTo(isGroup);
        assertThat(script.lua().text()).doesNotContainPattern("KEYS\\[[^1]");
    }

    @ParameterizedTest
    @EnumSource(CacheScript.class)
    void headerSaysWhatIsReturned(CacheScript script) {
        assertThat(RETURN.matcher(body(script)).find()).isTrue();
        String returns = header(script).stream()
                .dropWhile(line -> !line.startsWith("return "))
                .collect(Collectors.joining("\n"));
        Set<String> replies = Pattern.compile("(?m)(?:return (\\d)|\\{now, '(\\w+)')")
                .matcher(body(script))
                .results()
                .flatMap(match -> Stream.of(match.group(1), match.group(2)))
                .filter(Objects::nonNull)
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(replies).allSatisfy(reply -> assertThat(returns).contains(reply));
        assertThat(replies.isEmpty()).isEqualTo(NO_CONSTANTS.contains(script));
    }

    /** The prelude explains them. */
    @ParameterizedTest
    @EnumSource(
            value = CacheScript.class,
            mode = EnumSource.Mode.EXCLUDE,
            names = {
                "RAISE_EPOCH",
                "ADVANCE_MARK",
                "PREPARE_CLEAR",
                "END_EXPIRED_CLEARS",
                "REMOVE_WRONG_TYPE",
                "EXPLAIN"
            })
    void headerNamesTheFieldsThatTheScriptUses(CacheScript script) {
        Set<String> named = new TreeSet<>(List.of(part(script, "fields").split(" ", -1)));
        Set<String> used = FIELD.matcher(withoutComments(script.lua().text()))
                .results()
                .map(match -> match.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
        if (part(script, "ARGV").contains("field")) {
            used.add("v");
        }

        assertThat(named).isEqualTo(used);
        assertThat(named.stream().filter(field -> !Set.of("p", "owner", "work").contains(field)))
                .allSatisfy(
                        field -> assertThat(prelude().lines()).anyMatch(line -> line.startsWith("--        " + field)));
    }

    /** Its time would grow with the square of the text. */
    @Test
    void matchesNoPatternAgainAtEachByte() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("src/main/resources/io/easykit/cache/redis"))) {
            for (Path file : files.toList()) {
                assertThat(LuaPatterns.slow(Files.readString(file)))
                        .as(file.toString())
                        .isEmpty();
            }
        }
    }

    @Test
    void everyFileIsAScriptThatIsNamed() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("src/main/resources/io/easykit/cache/redis"))) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrderElementsOf(Stream.concat(
                                    Stream.of("prelude.lua"),
                                    Stream.of(CacheScript.values()).map(CacheScript::file))
                            .toList());
        }
    }

    @Test
    void preludeHasAHeaderOfTheSameForm() {
        assertThat(prelude().lines().map(line -> line.replaceAll("^-- (KEYS|ARGV|return|fields) .*", "$1")))
                .containsSubsequence("KEYS", "ARGV", "return", "fields");
    }

    @ParameterizedTest
    @EnumSource(CacheScript.class)
    void sendsOfThePreludeOnlyWhatItUses(CacheScript script) {
        String code = withoutComments(script.lua().text());
        for (String declared :
                List.of("time", "now", "toMillis", "valueFields", "nextEpoch", "callInParts", "writeEpochs")) {
            long uses = Pattern.compile("\\b" + declared + "\\b")
                    .matcher(code)
                    .results()
                    .count();
            assertThat(uses).as("uses of " + declared).isNotEqualTo(1);
            assertThat(body(script)).doesNotContainPattern("\\blocal (function )?" + declared + "\\b");
        }
    }

    @ParameterizedTest
    @EnumSource(CacheScript.class)
    void timeIsReadInOneLineWhereItIsNeeded(CacheScript script) {
        String text = script.lua().text();
        boolean needed = Pattern.compile("\\b(now|time\\[)")
                .matcher(withoutComments(text))
                .find();

        assertThat(text.lines().filter(line -> line.equals(Laboratory.TIME_LINE)))
                .hasSize(needed ? 1 : 0);
        assertThat(text.split("'TIME'", -1)).hasSize(needed ? 2 : 1);
    }

    @ParameterizedTest
    @EnumSource(CacheScript.class)
    void callsOnlyCommandsOfRedis62OnItsKey(CacheScript script) {
        String code = withoutComments(script.lua().text());
        assertThat(Stream.of(CALL, IN_PARTS)
                        .flatMap(pattern -> pattern.matcher(code).results())
                        .map(call -> call.group(1)))
                .isSubsetOf(COMMANDS);
        assertThat(code.replaceAll(IN_PARTS.pattern(), "").replace("function callInParts(command", ""))
                .doesNotContain("callInParts(");
        assertThat(code.replace("redis.pcall('PUBLISH', ARGV[3]", "")
                        .replace("redis.call(command, KEYS[1]", "")
                        .replaceAll(CALL.pattern() + "(, KEYS\\[1]|\\))", ""))
                .doesNotContain("redis.");
        assertThat(code.lines().filter(line -> line.contains("call('PEXPIRE'")))
                .allMatch(line -> line.matches(".*'PEXPIRE', KEYS\\[1], [^,]+\\).*"), "options came with Redis 7.0");
    }

    private static String part(CacheScript script, String part) {
        return header(script).stream()
                .filter(line -> line.startsWith(part + " "))
                .map(line -> line.substring(7))
                .findFirst()
                .orElseThrow();
    }

    private static List<String> header(CacheScript script) {
        return file(script)
                .lines()
                .takeWhile(line -> line.startsWith("--"))
                .map(line -> line.substring(Math.min(3, line.length())))
                .toList();
    }

    private static String body(CacheScript script) {
        return withoutComments(file(script));
    }

    private static String withoutComments(String text) {
        return text.lines().map(line -> line.replaceAll("--.*", "")).collect(Collectors.joining("\n"));
    }

    private static String prelude() {
        return LuaScript.resource(CacheScript.class, "prelude.lua");
    }

    private static String file(CacheScript script) {
        return LuaScript.resource(CacheScript.class, script.file());
    }
}
