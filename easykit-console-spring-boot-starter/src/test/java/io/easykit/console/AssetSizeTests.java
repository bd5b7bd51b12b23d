package io.easykit.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The page stays small enough to be read without a build tool, and loads at once over a slow line. */
class AssetSizeTests {

    private static final int MOST_PLAIN = 90 * 1024;
    private static final int MOST_COMPRESSED = 26 * 1024;

    @Test
    void allFilesTogetherAreSmall() {
        int plain = 0;
        int compressed = 0;
        for (String name : Assets.NAMES) {
            byte[] content = Assets.content(name);
            plain += content.length;
            compressed += Assets.compressed(content).length;
        }

        assertThat(plain).as("bytes of all files").isLessThanOrEqualTo(MOST_PLAIN);
        assertThat(compressed).as("bytes of all files, as a browser gets them").isLessThanOrEqualTo(MOST_COMPRESSED);
    }

    @Test
    void aCompressedFileIsTheFile() throws IOException {
        for (String name : Assets.NAMES) {
            byte[] content = Assets.content(name);
            try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(Assets.compressed(content)))) {
                assertThat(in.readAllBytes()).isEqualTo(content);
            }
        }
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "none",
            delimiter = '|',
            value = {
                "gzip, deflate, br, zstd | true",
                "br;q=1.0, GZIP;q=0.8    | true",
                "gzip;q=0, br            | false",
                "gzip; q=0.00            | false",
                "br                      | false",
                "none                    | false"
            })
    void aFileIsCompressedForThoseWhoTakeIt(@Nullable String acceptedEncodings, boolean taken) {
        assertThat(Assets.takesGzip(acceptedEncodings)).isEqualTo(taken);
    }

    /** Comments and the space at the beginning of lines are left out, line by line, and lines are joined. */
    @Test
    void noCommentAndNoTextOfTheScriptHasSeveralLines() throws IOException {
        for (String module : Assets.MODULES) {
            Path file = Path.of("src/main/resources/io/easykit/console/assets", module);
            assertThat(Files.readAllLines(file)).as(module).allSatisfy(line -> {
                assertThat(line.chars().filter(c -> c == '`').count() % 2).isZero();
                assertThat(line.contains("/*")).isEqualTo(line.contains("*/"));
                assertThat(line.strip().indexOf("//"))
                        .matches(at -> at <= 0 || line.contains("://"), "no comment behind code");
            });
        }
        assertThat(new String(Assets.content("console.js"), StandardCharsets.UTF_8))
                .doesNotContainPattern("(?m)^(//|/\\*| |$)");
    }

    @Test
    void theModulesAreOneScriptAndDeclareEachNameOnce() {
        String script = Assets.script();

        assertThat(script).doesNotContainPattern("(?m)^(import|export)\\b");
        assertThat(Pattern.compile("(?m)^(?:const|let|function|async function) (\\w+)")
                        .matcher(script)
                        .results()
                        .map((MatchResult found) -> found.group(1)))
                .hasSizeGreaterThan(100)
                .doesNotHaveDuplicates();
    }
}
