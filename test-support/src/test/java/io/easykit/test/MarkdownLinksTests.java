package io.easykit.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MarkdownLinksTests {

    @TempDir
    Path root;

    @Test
    void linksOfTheDocumentationResolve() throws IOException {
        try (Stream<Path> files = Files.list(Path.of(".."))) {
            String[] pages = files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".md"))
                    .toArray(String[]::new);
            assertThat(pages).contains("README.md", "CONTRIBUTING.md");
            assertThat(MarkdownLinks.broken(Path.of(".."), pages)).isEmpty();
        }
        assertThat(MarkdownLinks.broken(Path.of(".."), "docs", "benchmarks/README.md"))
                .isEmpty();
    }

    @Test
    void findsALinkToAFileThatDoesNotExist() throws IOException {
        write("README.md", "See [the docs](docs/a.md).", "And [more](docs/b.md).");
        write("docs/a.md", "Back to [the start](../README.md), or to [the list][list].", "", "[list]: list.md");

        assertThat(MarkdownLinks.broken(root, "README.md", "docs"))
                .containsExactly("README.md:2: docs/b.md", "docs/a.md:3: list.md");
    }

    @Test
    void findsAnAnchorWithoutAHeading() throws IOException {
        write("README.md", "[good](a.md#when-redis-is-away), [bad](a.md#away), [here](#the-start)", "# The start");
        write("a.md", "# When `Redis` is away?");

        assertThat(MarkdownLinks.broken(root, "README.md")).containsExactly("README.md:1: a.md#away");
    }

    @Test
    void numbersHeadingsOfTheSameText() throws IOException {
        write("README.md", "# Settings", "# Settings", "[first](#settings) [second](#settings-1) [third](#settings-2)");

        assertThat(MarkdownLinks.broken(root, "README.md")).containsExactly("README.md:3: #settings-2");
    }

    @Test
    void findsALinkOutOfTheRepository() throws IOException {
        write("README.md", "[up](../other/README.md)", "[folder](docs)");
        write("docs/a.md", "");

        assertThat(MarkdownLinks.broken(root, "README.md")).containsExactly("README.md:1: ../other/README.md");
    }

    @Test
    void findsEachLinkOfATableRow() throws IOException {
        write("README.md", "| [a [b]](one.md) | [c](two.md \"title\") |");

        assertThat(MarkdownLinks.broken(root, "README.md"))
                .containsExactly("README.md:1: one.md", "README.md:1: two.md");
    }

    @Test
    void leavesCodeAndOtherSitesAlone() throws IOException {
        write("README.md", "```", "[code](a.md)", "# no heading", "```", "`[code](b.md)`", "[web](https://redis.io#x)");

        assertThat(MarkdownLinks.broken(root, "README.md")).isEmpty();
    }

    @Test
    void findsNoHeadingInCode() throws IOException {
        write("README.md", "```", "# no heading", "```", "[bad](#no-heading)");

        assertThat(MarkdownLinks.broken(root, "README.md")).containsExactly("README.md:4: #no-heading");
    }

    @Test
    void failsIfThereIsNothingToCheck() throws IOException {
        Files.createDirectory(root.resolve("docs"));

        assertThatIllegalArgumentException()
                .isThrownBy(() -> MarkdownLinks.broken(root, "docs"))
                .withMessage("There is no Markdown file in docs");
    }

    private void write(String file, String... lines) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.write(path, List.of(lines));
    }
}
