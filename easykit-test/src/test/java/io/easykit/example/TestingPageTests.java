package io.easykit.example;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The code of docs/testing.md, docs/getting-started.md and docs/delay-queue/api.md is that of the classes beside this one. */
class TestingPageTests {

    private static final Path DOCS = Path.of("../docs");
    private static final Path HERE = Path.of("src/test/java");
    private static final List<String> EXAMPLES = List.of(
            "com/shop/ReminderTests.java",
            "com/shop/ReminderApplicationTests.java",
            "com/shop/PriceApplicationTests.java",
            "io/easykit/example/ClockApplicationTests.java",
            "io/easykit/example/shop/MailListenerTests.java",
            "io/easykit/example/UserCacheTests.java",
            "io/easykit/example/catalog/TitlesTests.java",
            "io/easykit/example/offers/OfferApplicationTests.java",
            "io/easykit/example/tenants/Tenants.java",
            "io/easykit/example/PartnerCallsTests.java",
            "io/easykit/example/OrderQueue.java");
    private static final List<String> SHOP =
            List.of("ShopApplication.java", "Prices.java", "Reminder.java", "Reminders.java", "ShopTests.java");
    private static final Pattern BLOCK = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
    private static final Pattern LINK = Pattern.compile(
            "```java\n[^`]*```\n\n[^\n]*\\]\\((?:\\.\\./)+easykit-test/src/test/java/[\\w/]+\\.java\\)");

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

    private static List<String> blocks(String page) throws IOException {
        return BLOCK.matcher(Files.readString(DOCS.resolve(page)))
                .results()
                .map((MatchResult block) -> block.group(1))
                .toList();
    }

    /** Another block needs a container, which is not everywhere. */
    private static List<String> blocksOfTesting() throws IOException {
        return blocks("testing.md").stream()
                .filter(block -> !block.contains("@ServiceConnection"))
                .toList();
    }

    private static void assertIsPartOfAnExample(String block) throws IOException {
        String examples = examples();
        for (String part : block.split("\n\n", -1)) {
            assertThat(examples).contains(String.join("\n", lines(part)));
        }
        assertThat(block.chars().filter(c -> c == '{').count())
                .as("each block is complete: %s", block)
                .isEqualTo(block.chars().filter(c -> c == '}').count());
    }

    @Test
    void theExamplesRunAsTests() throws IOException {
        assertThat(blocksOfTesting()).hasSizeGreaterThanOrEqualTo(11);
        for (String block : blocksOfTesting()) {
            assertIsPartOfAnExample(block);
        }
    }

    @Test
    void aLinkToTheClassFollowsEachExample() throws IOException {
        String page = Files.readString(DOCS.resolve("testing.md"));

        assertThat(LINK.matcher(page).results()).hasSameSizeAs(blocksOfTesting());
    }

    @Test
    void theCodeOfTheQueuesApiRunsAsTests() throws IOException {
        assertThat(blocks("delay-queue/api.md")).hasSizeGreaterThanOrEqualTo(2);
        for (String block : blocks("delay-queue/api.md")) {
            assertIsPartOfAnExample(block);
        }
    }

    /** So a reader can copy them as they are. */
    @Test
    void gettingStartedHasWholeFiles() throws IOException {
        List<String> blocks = blocks("getting-started.md");

        assertThat(blocks).hasSameSizeAs(SHOP);
        for (int i = 0; i < SHOP.size(); i++) {
            assertThat(blocks.get(i))
                    .isEqualTo(Files.readString(HERE.resolve("com/shop").resolve(SHOP.get(i))));
        }
    }
}
