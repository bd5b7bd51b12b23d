package io.easykit.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;

/** The page stays small enough to be read without a build tool, and loads at once over a slow line. */
class AssetSizeTests {

    private static final int MOST_PLAIN = 90 * 1024;
    private static final int MOST_COMPRESSED = 25 * 1024;

    @Test
    void allFilesTogetherAreSmall() throws IOException {
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        int plain = 0;
        try (GZIPOutputStream gzip = new GZIPOutputStream(compressed)) {
            for (String name : Assets.NAMES) {
                byte[] content = read(name);
                plain += content.length;
                gzip.write(content);
            }
        }

        assertThat(plain).as("bytes of all files").isLessThanOrEqualTo(MOST_PLAIN);
        assertThat(compressed.size()).as("bytes of all files, compressed").isLessThanOrEqualTo(MOST_COMPRESSED);
    }

    private static byte[] read(String name) throws IOException {
        try (InputStream file = Assets.class.getResourceAsStream("assets/" + name)) {
            assertThat(file).as(name).isNotNull();
            return file.readAllBytes();
        }
    }
}
