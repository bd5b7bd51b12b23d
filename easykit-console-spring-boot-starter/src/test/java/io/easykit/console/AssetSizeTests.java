package io.easykit.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;

/** The page stays small enough to be read without a build tool, and loads at once over a slow line. */
class AssetSizeTests {

    private static final int MOST_PLAIN = 76 * 1024;
    private static final int MOST_COMPRESSED = 27 * 1024;

    @Test
    void allFilesTogetherAreSmall() throws IOException {
        int plain = 0;
        int compressed = 0;
        for (String name : Assets.NAMES) {
            byte[] content = Assets.content(name);
            plain += content.length;
            compressed += compressed(content);
        }

        assertThat(plain).as("bytes of all files").isLessThanOrEqualTo(MOST_PLAIN);
        assertThat(compressed).as("bytes of all files, each compressed").isLessThanOrEqualTo(MOST_COMPRESSED);
    }

    /** As a server does it that compresses replies. */
    private static int compressed(byte[] content) throws IOException {
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(compressed)) {
            gzip.write(content);
        }
        return compressed.size();
    }

    @Test
    void theModulesAreOneScriptAndDeclareEachNameOnce() {
        String script = new String(Assets.content("console.js"), StandardCharsets.UTF_8);

        assertThat(script).doesNotContainPattern("(?m)^(import|export)\\b");
        assertThat(Pattern.compile("(?m)^(?:const|let|function|async function) (\\w+)")
                        .matcher(script)
                        .results()
                        .map((MatchResult found) -> found.group(1)))
                .hasSizeGreaterThan(100)
                .doesNotHaveDuplicates();
    }
}
