package io.easykit.delayqueue.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.redis.LuaScript;
import io.easykit.test.LuaPatterns;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Holds the header of each script against its body, and against the Java that reads its reply. */
class ScriptHeaderTests {

    @ParameterizedTest
    @EnumSource
    void saysWhatItIsForAndNamesKeysArgumentsAndReply(QueueScript name) {
        List<String> header = header(name);

        assertThat(header.get(0)).matches("[A-Z].*");
        assertThat(header).contains("KEYS   prefix, settings");
        assertThat(header).anyMatch(line -> line.startsWith("ARGV   ")).anyMatch(line -> line.startsWith("return "));
    }

    /** Its time would grow with the square of the text, and one call matches the texts of a whole page. */
    @Test
    void matchesNoPatternAgainAtEachByte() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("src/main/resources/io/easykit/delayqueue/redis"))) {
            for (Path file : files.toList()) {
                assertThat(LuaPatterns.slow(Files.readString(file)))
                        .as(file.toString())
                        .isEmpty();
            }
        }
    }

    @Test
    void everyFileIsAScriptThatIsNamed() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("src/main/resources/io/easykit/delayqueue/redis"))) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrderElementsOf(Stream.concat(
                                    Stream.of("prelude.lua"),
                                    Stream.of(QueueScript.values()).map(QueueScript::file))
                            .toList());
        }
    }

    @ParameterizedTest
    @EnumSource
    void usesTheArgumentsThatTheHeaderNames(QueueScript name) {
        List<String> forms = argumentForms(name);
        Set<String> groups = forms.stream()
                .filter(form -> form.contains(")*"))
                .map(form -> (fixed(form) + 1) + ", " + groupSize(form))
                .collect(Collectors.toSet());
        Set<String> checked = find(body(name), "checkGroups\\((\\d, \\d)\\)").collect(Collectors.toSet());
        int highest = find(body(name), "ARGV\\[(\\d)\\]")
                .mapToInt(Integer::parseInt)
                .max()
                .orElse(0);

        assertThat(checked).isEqualTo(groups);
        assertThat(highest)
                .isEqualTo(
                        forms.stream().mapToInt(ScriptHeaderTests::fixed).max().orElse(0));
    }

    @ParameterizedTest
    @EnumSource(names = {"SEND", "ACKNOWLEDGE", "FAIL", "RELEASE", "EXTEND", "CANCEL", "RESCHEDULE"})
    void answersTheCodesThatTheHeaderNamesAndThatJavaReads(QueueScript name) {
        String reply = String.join(" ", header(name)).replaceAll(".*return code\\*", "");
        Set<Long> named = numbers(Stream.of(reply.replaceAll("; where.*", "")));

        assertThat(codesIn(name)).isEqualTo(named);
        assertThat(LongStream.rangeClosed(-9, 9)
                        .filter(code -> javaReads(name, code))
                        .boxed()
                        .collect(Collectors.toSet()))
                .isEqualTo(named);
    }

    @ParameterizedTest
    @CsvSource({
        "CLAIM, 5, 7",
        "REAP, 2, 5",
        "STATS, 11, 2",
        "STOPPED_KEYS, 1, 4",
        "FIND, 0, 7",
        "BROWSE, 2, 7",
        "TRIAGE, 1, 4"
    })
    void answersTheListThatTheHeaderNamesAndThatJavaReads(QueueScript name, int fixed, int groupSize) {
        String form = replyForm(name);
        String start = body(name).replaceAll("(?s).*?\\breply = \\{(.*?)}\\n.*", "$1");
        int highest = find(body(name), "reply\\[at \\+ (\\d)]")
                .mapToInt(Integer::parseInt)
                .max()
                .orElse(name == QueueScript.STATS ? 2 : 0); // HGETALL

        assertThat(fixed(form.replaceAll("\\{[^}]*}", "list"))).isEqualTo(fixed);
        assertThat(elements(start)).isEqualTo(fixed);
        assertThat(groupSize(form)).isEqualTo(groupSize).isEqualTo(highest);
        assertThat(namesInJava(name))
                .extracting(names -> names.getEnumConstants().length)
                .containsExactly(fixed, groupSize);
    }

    /** Names of the values before the groups, and of those in a group. */
    private static List<Class<? extends Enum<?>>> namesInJava(QueueScript name) {
        return switch (name) {
            case CLAIM -> List.of(Replies.ClaimReply.class, Replies.DeliveryField.class);
            case REAP -> List.of(Replies.ReapReply.class, Replies.LostLeaseField.class);
            case STATS -> List.of(InspectionReplies.StatsReply.class, InspectionReplies.CounterField.class);
            case STOPPED_KEYS ->
                List.of(InspectionReplies.StoppedKeysReply.class, InspectionReplies.StoppedKeyField.class);
            case FIND -> List.of(InspectionReplies.FindReply.class, InspectionReplies.MessageField.class);
            case BROWSE -> List.of(InspectionReplies.BrowseReply.class, InspectionReplies.EntryField.class);
            case TRIAGE -> List.of(InspectionReplies.TriageReply.class, InspectionReplies.ErrorField.class);
            default -> throw new IllegalArgumentException(name + " has no groups");
        };
    }

    /** Elements of a table, without those of calls and tables in it. */
    private static int elements(String table) {
        String flat = table;
        for (String flatter = ""; !flatter.equals(flat); ) {
            flatter = flat;
            flat = flat.replaceAll("\\([^()]*\\)", "");
        }
        return flat.isBlank() ? 0 : flat.split(",", -1).length;
    }

    @Test
    void namesKeysArgumentsAndReplyInThePrelude() {
        List<String> header = lines(prelude());

        assertThat(header).contains("KEYS   prefix, settings");
        assertThat(header).anyMatch(line -> line.startsWith("ARGV   ")).anyMatch(line -> line.startsWith("return "));
    }

    @ParameterizedTest
    @EnumSource
    void sendsOfThePreludeOnlyWhatItUses(QueueScript name) {
        String text = name.load(UnaryOperator.identity()).text();
        String code = text.replaceAll("--.*|'[^'\\n]*'", "");
        String own = body(name);
        for (String declared :
                find(prelude(), "(?m)^local (?:function )?(\\w+)").toList()) {
            assertThat(own).as("declared again").doesNotContainPattern("\\blocal (function )?" + declared + "\\b");
            if (Pattern.compile("(?m)^local (function )?" + declared + "\\b")
                            .matcher(text)
                            .find()
                    && !declared.equals("prefix")) {
                long uses = find(code, "(?<![.\\w])(" + declared + ")\\b").count();
                assertThat(uses).as("uses of " + declared).isGreaterThan(1);
            }
        }
    }

    private static Set<Long> codesIn(QueueScript name) {
        String body = body(name);
        String shared = "";
        if (Pattern.compile("\\b(fenced|acknowledge)\\(").matcher(body).find()) {
            body = function("fenced");
        } else if (body.contains("changeable(")) {
            shared = function("changeable").replaceAll("\\((\\{.*})\\)\\[place] or", "$1,");
        }
        return numbers((body + "\n" + shared)
                .lines()
                .filter(line -> line.matches(".*\\bcodes?(\\[.*\\])? = .*"))
                .map(line -> line.replaceAll(".*\\bcodes?(\\[[^=]*\\])? = ", "")
                        .replaceAll("\\w+\\([^)]*\\)|ARGV\\[[^]]*\\]", "")));
    }

    /** A function of the prelude that decides codes. */
    private static String function(String name) {
        String prelude = prelude();
        int from = prelude.indexOf("local function " + name);
        return prelude.substring(from, prelude.indexOf("\nend\n", from));
    }

    private static boolean javaReads(QueueScript name, long code) {
        byte[] codes = {(byte) ('0' + code)};
        try {
            switch (name) {
                case SEND -> Replies.sends(codes);
                case CANCEL, RESCHEDULE -> Replies.changes(codes);
                default -> Replies.settlements(codes);
            }
            return true;
        } catch (IllegalStateException unknown) {
            return false;
        }
    }

    private static Set<Long> numbers(Stream<String> texts) {
        return texts.flatMap(text -> find(text, "(?<![\\w+])(-?\\d+)\\b"))
                .map(Long::valueOf)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Stream<String> find(String text, String regex) {
        return Pattern.compile(regex)
                .matcher(text)
                .results()
                .map((MatchResult match) -> match.group(1))
                .toList()
                .stream();
    }

    /** What stands behind ARGV, one entry for each "or"; explanations, set off by two blanks or more, are left out. */
    private static List<String> argumentForms(QueueScript name) {
        List<String> header = header(name);
        int from = header.indexOf(
                header.stream().filter(l -> l.startsWith("ARGV")).findFirst().orElseThrow());
        int to = header.indexOf(
                header.stream().filter(l -> l.startsWith("return ")).findFirst().orElseThrow());
        return header.subList(from, to).stream()
                .filter(line -> line.startsWith("ARGV") || line.startsWith("  or"))
                .map(line -> line.substring(7).replaceAll("   .*", ""))
                .toList();
    }

    private static int fixed(String form) {
        String fixed = form.replaceAll(",? ?\\((?=[^)]*\\)\\*).*", "").replaceAll("\\([^)]*\\)", "");
        return fixed.isBlank() || fixed.equals("none") ? 0 : fixed.split(",", -1).length;
    }

    private static int groupSize(String form) {
        return form.replaceAll(".*\\(([^)]*)\\)\\*.*", "$1").split(",", -1).length;
    }

    /** What stands behind "return", up to an explanation. */
    private static String replyForm(QueueScript name) {
        String header = String.join("\n", header(name));
        String reply = header.substring(header.indexOf("\nreturn ") + 8);
        return reply.replaceAll("(?s)   +(status|nil|where|code|the digits).*", "")
                .replaceAll("\\s+", " ");
    }

    private static String prelude() {
        return LuaScript.resource(QueueScript.class, "prelude.lua");
    }

    private static String file(QueueScript name) {
        return LuaScript.resource(QueueScript.class, name.file());
    }

    private static List<String> header(QueueScript name) {
        return lines(file(name));
    }

    private static List<String> lines(String script) {
        return script.lines()
                .takeWhile(line -> line.startsWith("--"))
                .map(line -> line.substring(Math.min(3, line.length())))
                .toList();
    }

    private static String body(QueueScript name) {
        return file(name).lines().dropWhile(line -> line.startsWith("--")).collect(Collectors.joining("\n"));
    }
}
