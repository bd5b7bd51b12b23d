package io.easykit.delayqueue.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Holds the header of each script against its body, and against the Java that reads its reply. */
class ScriptHeaderTests {

    @ParameterizedTest
    @EnumSource
    void saysWhatItIsForAndNamesKeysArgumentsAndReply(LuaScript.Name name) {
        List<String> header = header(name);

        assertThat(header.get(0)).matches("[A-Z].*");
        assertThat(header).contains("KEYS   prefix, settings");
        assertThat(header).anyMatch(line -> line.startsWith("ARGV   ")).anyMatch(line -> line.startsWith("return "));
    }

    @ParameterizedTest
    @EnumSource
    void usesTheArgumentsThatTheHeaderNames(LuaScript.Name name) {
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
    void answersTheCodesThatTheHeaderNamesAndThatJavaReads(LuaScript.Name name) {
        String reply = String.join(" ", header(name)).replaceAll(".*return code\\*", "");
        Set<Long> named = numbers(Stream.of(reply.replaceAll("; where.*", "")));

        assertThat(codesIn(name)).isEqualTo(named);
        assertThat(LongStream.rangeClosed(-9, 9)
                        .filter(code -> javaReads(name, code))
                        .boxed()
                        .collect(Collectors.toSet()))
                .isEqualTo(named);
    }

    private static Set<Long> codesIn(LuaScript.Name name) {
        String body = body(name);
        String shared = "";
        if (Pattern.compile("\\b(held|acknowledge)\\(").matcher(body).find()) {
            body = function("held");
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
        String prelude = LuaScript.resource("prelude.lua");
        int from = prelude.indexOf("local function " + name);
        return prelude.substring(from, prelude.indexOf("\nend\n", from));
    }

    private static boolean javaReads(LuaScript.Name name, long code) {
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
    private static List<String> argumentForms(LuaScript.Name name) {
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

    private static List<String> header(LuaScript.Name name) {
        return LuaScript.resource(name.file())
                .lines()
                .takeWhile(line -> line.startsWith("--"))
                .map(line -> line.substring(Math.min(3, line.length())))
                .toList();
    }

    private static String body(LuaScript.Name name) {
        return LuaScript.resource(name.file())
                .lines()
                .dropWhile(line -> line.startsWith("--"))
                .collect(Collectors.joining("\n"));
    }
}
