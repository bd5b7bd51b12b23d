package io.easykit.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each text that the code gives to people has a Chinese one. */
class TranslationsTests {

    private static final Path CONSOLE = Path.of("src/main/java");
    private static final Path EXPLAINER =
            Path.of("../easy-cache-core/src/main/java/io/easykit/cache/engine/EntryExplainer.java");
    private static final Path TOPICS =
            Path.of("../delay-queue-core/src/main/java/io/easykit/delayqueue/engine/Topics.java");
    private static final Path PROBLEMS =
            Path.of("../delay-queue-spring-boot-starter/src/main/java/io/easykit/delayqueue/actuate/QueueProblem.java");
    private static final Path CACHE_PROBLEMS =
            Path.of("../easy-cache-spring-boot-starter/src/main/java/io/easykit/cache/actuate/CacheProblem.java");
    private static final List<String> REFUSALS =
            List.of("new Refusal(", "Refusal.ofUnknownOutcome(", " notLoopback(", " crossSite(", " wrong(");
    private static final List<String> SENTENCES = List.of(" say(", "new Field(");

    private final Translations translations = new Translations();

    @Test
    void eachReasonAndRemedyHasAChineseText() throws IOException {
        Set<String> texts = new LinkedHashSet<>();
        try (Stream<Path> files = Files.walk(CONSOLE)) {
            for (Path file :
                    files.filter(file -> file.toString().endsWith(".java")).toList()) {
                texts.addAll(texts(Files.readString(file), REFUSALS));
            }
        }

        assertThat(texts).hasSizeGreaterThan(80).contains("The parameter x is missing.");
        assertThat(texts).allSatisfy(this::isTranslated);
    }

    /** The console shows the remedies that the endpoint shows. */
    @Test
    void eachRemedyOfAnExceptionHasAChineseText() throws IOException {
        Set<String> texts = texts(Files.readString(PROBLEMS), List.of("new HttpProblem("));

        texts.addAll(texts(Files.readString(CACHE_PROBLEMS), List.of("new HttpProblem(")));

        assertThat(texts).hasSizeGreaterThan(8).contains("Correct it in Redis.", "Ask another node.");
        assertThat(texts).allSatisfy(this::isTranslated);
    }

    /** The console shows the reasons and remedies of the engine. */
    @Test
    void eachRefusalOfAGrowthHasAChineseText() throws IOException {
        Set<String> texts = texts(Files.readString(TOPICS), List.of("new TopicConflictException("));

        assertThat(texts).hasSizeGreaterThan(5).contains("Topic 'x' was never used, so no shards can be added to it.");
        assertThat(texts).allSatisfy(this::isTranslated);
        isTranslated("Topic 'x' has a max-in-flight of at most 3, so some of 8 shards could run nothing.");
        isTranslated("Give max-in-flight a value of 8 or more on all nodes first.");
        isTranslated("Set 8 or more, or nothing: messages of the other shards would not be found.");
    }

    @Test
    void eachSentenceAboutACachedEntryHasAChineseText() throws IOException {
        Set<String> texts = texts(Files.readString(EXPLAINER), SENTENCES);

        assertThat(texts).hasSizeGreaterThan(25).contains("There is no entry.");
        assertThat(texts).allSatisfy(this::isTranslated);
    }

    /** A text of its own, and not the one of a shorter template that also matches: no English sentence is left. */
    private void isTranslated(String english) {
        assertThat(translations.chinese(english))
                .as(english)
                .isNotEqualTo(english)
                .containsPattern("\\p{IsHan}")
                .doesNotContainPattern("[a-z]+ [a-z]+ [a-z]+");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "The field count is not a whole number from 1 to 9. | 字段 count 应为1 到 9 的整数。",
                "The field count is not a whole number from 1 to 9, or unlimited. | 字段 count 应为1 到 9 的整数,或 unlimited。",
                "Redis did not answer in time. The change may have been made, in part or whole. | Redis 未及时响应。修改可能已全部或部分生效。",
                "the oldest due message waits for 74 s (limit 60 s) | 最早到期的消息已等待 74 s (上限 60 s)",
                "fencing token 7, lease ends in 12 s | 栅栏令牌 7,租约 12 s 后结束",
                "is not a Time. Write it as Java does, as in 09:00:00. | 不是 Time。请按 Java 的写法填写,例如 09:00:00。",
                "is not a Date. Write it as Java does, as in a, b or c. | 不是 Date。请按 Java 的写法填写,例如 a、b 或 c。",
                "(.*) \\E {1} $1 | (.*) \\E {1} $1",
                "The parameter {2} $9 is missing. | 缺少参数 {2} $9。"
            })
    void translatesGapsAndKeepsWhatItDoesNotKnow(String english, String chinese) {
        assertThat(translations.chinese(english)).isEqualTo(chinese);
    }

    @ParameterizedTest
    @CsvSource({"zh-CN, true", "'zh-TW,en;q=0.5', true", "'en,zh;q=0.9', false", ", false"})
    void dependsOnTheFirstLanguage(String accepted, boolean chinese) {
        assertThat(Translations.isChinese(accepted)).isEqualTo(chinese);
    }

    /** The texts among the arguments of calls. Each part that is no literal is an x. */
    private static Set<String> texts(String source, List<String> calls) {
        Set<String> texts = new LinkedHashSet<>();
        for (String call : calls) {
            for (int at = source.indexOf(call); at >= 0; at = source.indexOf(call, at + 1)) {
                texts.addAll(arguments(source, at + call.length()));
            }
        }
        texts.removeIf(text -> !text.strip().contains(" ") || text.length() < 6);
        return texts;
    }

    /** Both branches of a condition are texts. */
    private static List<String> arguments(String source, int begin) {
        List<String> texts = new ArrayList<>();
        StringBuilder text = new StringBuilder();
        int depth = 1;
        for (int at = begin; depth > 0; at++) {
            char c = source.charAt(at);
            if (c == '"') {
                int end = at + 1;
                while (source.charAt(end) != '"') {
                    end += source.charAt(end) == '\\' ? 2 : 1;
                }
                add(text, depth == 1 ? source.substring(at + 1, end) : "x");
                at = end;
            } else if ("({[".indexOf(c) >= 0) {
                depth++;
            } else if (")}]".indexOf(c) >= 0) {
                depth--;
            } else if (depth == 1 && c == '?') {
                text.setLength(0);
            } else if (depth == 1 && (c == ',' || c == ':')) {
                texts.add(text.toString());
                text.setLength(0);
            } else if (c != '+' && !Character.isWhitespace(c)) {
                add(text, "x");
            }
        }
        texts.add(text.toString());
        return texts;
    }

    private static void add(StringBuilder text, String part) {
        boolean repeats = part.equals("x") && text.toString().endsWith("x");
        text.append(repeats ? "" : part);
    }
}
