package io.easykit.test;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.error.YAMLException;

/** Settings are copied out of the pages. */
class MarkdownYamlTests {

    private static final Pattern BLOCK = Pattern.compile("(?ms)^( *)```ya?ml\\n(.*?)^ *```$");

    @TempDir
    Path folder;

    @Test
    void theYamlOfThePagesCanBeRead() throws IOException {
        List<Path> pages = new ArrayList<>();
        try (Stream<Path> top = Files.list(Path.of(".."));
                Stream<Path> docs = Files.walk(Path.of("../docs"))) {
            Stream.concat(top, docs)
                    .filter(path -> path.toString().endsWith(".md"))
                    .forEach(pages::add);
        }

        assertThat(pages.stream().mapToInt(page -> blocks(page).size()).sum()).isGreaterThan(15);
        assertThat(pages.stream().flatMap(page -> unreadable(page).stream())).isEmpty();
    }

    @Test
    void findsATextThatNeedsQuotes() throws IOException {
        Path page = Files.writeString(folder.resolve("a.md"), "```yaml\na: b\n```\n```yaml\na: b:\n```\n");

        assertThat(unreadable(page)).singleElement().asString().contains("a.md", "a: b:");
    }

    private static List<String> unreadable(Path page) {
        List<String> unreadable = new ArrayList<>();
        for (String block : blocks(page)) {
            try {
                new Yaml().loadAll(block).forEach(document -> {});
            } catch (YAMLException e) {
                unreadable.add(page + ": " + block + e.getMessage());
            }
        }
        return unreadable;
    }

    private static List<String> blocks(Path page) {
        try {
            List<String> blocks = new ArrayList<>();
            Matcher matcher = BLOCK.matcher(Files.readString(page));
            while (matcher.find()) {
                blocks.add(matcher.group(2).replaceAll("(?m)^" + matcher.group(1), ""));
            }
            return blocks;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
