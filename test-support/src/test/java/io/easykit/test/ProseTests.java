package io.easykit.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.test.Prose.Construction;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProseTests {

    @TempDir
    private Path directory;

    @Test
    void thisModuleReadsWell() {
        Prose.ofMainCode().check();
    }

    @Test
    void findsEachConstructionInJavadocAndLineComments() throws IOException {
        write(
                """
                /**
                 * Returns the due messages of a topic.
                 *
                 * <p>Takes what is due before the
                 * claim ends.
                 *
                 * @param limit whatever the caller of this method wants
                 */
                int a; // A shard tells {@link Other} when it is empty
                // Nobody reads this part of the reply.
                String url = "https://example.com/what-is-in-a-url/whoever";
                """);

        Prose prose = Prose.of(directory);

        assertThat(prose.with(Construction.FREE_RELATIVE))
                .containsExactly("Code.java: Takes what is due before the claim ends.");
        assertThat(prose.with(Construction.INDEFINITE_PERSON))
                .containsExactly(
                        "Code.java: whatever the caller of this method wants",
                        "Code.java: Nobody reads this part of the reply.");
        assertThat(prose.with(Construction.PERSONIFIED_OBJECT))
                .containsExactly("Code.java: A shard tells Other when it is empty");
        assertThat(prose.sentences()).isEqualTo(5);
    }

    @Test
    void leavesShortSentencesOut() throws IOException {
        write("// What is due. Nobody asked. Known.\n");

        assertThat(Prose.of(directory).sentences()).isZero();
    }

    @Test
    void failsAboveOnePercentWithTheSentencesAndTheRemedy() throws IOException {
        write(plainSentences(99) + "// The store says that the entry is fresh.\n");
        Prose.of(directory).check();

        write(plainSentences(98) + "// The store says that the entry is fresh.\n");
        Prose prose = Prose.of(directory);

        assertThatThrownBy(prose::check)
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("1 of 99 sentences have objects that speak or know")
                .hasMessageContaining("Code.java: The store says that the entry is fresh.")
                .hasMessageContaining("Objects return, send, read, check, report.");
    }

    private static String plainSentences(int number) {
        return IntStream.range(0, number)
                .mapToObj(i -> "// The store returns the fresh entry number " + i + ".\n")
                .reduce("", String::concat);
    }

    private void write(String code) throws IOException {
        Files.writeString(directory.resolve("Code.java"), code);
    }
}
