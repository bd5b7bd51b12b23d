package io.easykit.example;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The code of docs/testing.md is that of the tests beside this one. */
class TestingPageTests {

    private static final Path PAGE = Path.of("../docs/testing.md");
    private static final Path HERE = Path.of("src/test/java/io/easykit/example");
    private static final List<String> EXAMPLES = List.of(
            "ReminderTests.java",
            "ReminderApplicationTests.java",
            "shop/MailListenerTests.java",
            "UserCacheTests.java",
            "PriceApplicationTests.java",
            "catalog/TitlesTests.java",
            "ReminderCacheApplicationTests.java");
    private static final Pattern BLOCK = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

    private static List<String> lines(String code) {
        return code.lines().map(String::strip).filter(line -> !line.isEmpty()).toList();
    }

    private static String examples() throws IOException {
        StringBuilder all = new StringBuilder();
        for (String test : EXAMPLES) {
            all.append(Files.readString(HERE.resolve(test)));
        }
        return String.join("\n", lines(all.toString()));
    }

    /** Other blocks need a container, which is not everywhere. */
    private static List<String> blocks() throws IOException {
        return BLOCK.matcher(Files.readString(PAGE))
                .results()
                .map((MatchResult block) -> block.group(1))
                .filter(block -> !block.contains("@ServiceConnection"))
                .toList();
    }

    @Test
    void theExamplesRunAsTests() throws IOException {
        String examples = examples();

        assertThat(blocks()).hasSizeGreaterThanOrEqualTo(11);
        for (String block : blocks()) {
            for (String part : block.split("\n\n", -1)) {
                assertThat(examples).contains(String.join("\n", lines(part)));
            }
        }
    }
}
