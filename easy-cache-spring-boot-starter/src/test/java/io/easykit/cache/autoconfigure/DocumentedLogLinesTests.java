package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The log lines that the documentation explains are those that the code writes. */
class DocumentedLogLinesTests {

    private static final Path PAGE = Path.of("..", "docs", "easy-cache", "operations.md");
    private static final String HEADING = "## Log lines";

    /** A call of the logger with its level and its text; a text that goes over several lines is one text. */
    private static final Pattern STATEMENT =
            Pattern.compile("log\\.(warn|info|error)\\(\\s*\"((?:[^\"\\\\]|\\\\.)*)\"");

    private static final Pattern CODE = Pattern.compile("`([^`]+)`");

    static List<String> documented() {
        return read(PAGE)
                .lines()
                .dropWhile(line -> !line.equals(HEADING))
                .takeWhile(line -> line.equals(HEADING) || !line.startsWith("## "))
                .filter(line -> line.startsWith("| `"))
                .map(line -> line.split(" \\| ", 2)[0])
                .flatMap(cell -> CODE.matcher(cell).results().map(code -> code.group(1)))
                .toList();
    }

    static List<String> written() {
        return Stream.of("../easy-cache-core", "../easykit-redis", ".")
                .map(module -> Path.of(module, "src", "main", "java"))
                .flatMap(DocumentedLogLinesTests::files)
                .map(file -> read(file).replaceAll("\"\\s*\\+\\s*\"", ""))
                .flatMap(code -> STATEMENT.matcher(code).results())
                .map(call -> call.group(1).toUpperCase(Locale.ROOT) + " " + call.group(2))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("documented")
    void isWritten(String line) {
        assertThat(written()).anyMatch(text -> isOf(line, text));
    }

    @Test
    void hasEachWarningAndError() {
        assertThat(written())
                .filteredOn(text -> !text.startsWith("INFO"))
                .isNotEmpty()
                .allMatch(text -> documented().stream().anyMatch(line -> isOf(line, text)));
    }

    /** Whether a documented line is the beginning of this text. An ellipsis stands for anything. */
    private static boolean isOf(String line, String text) {
        String pattern = Arrays.stream(line.split("…", -1)).map(Pattern::quote).collect(Collectors.joining(".*"));
        return Pattern.compile(pattern).matcher(text).lookingAt();
    }

    private static Stream<Path> files(Path folder) {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(file -> file.toString().endsWith(".java")).toList().stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
