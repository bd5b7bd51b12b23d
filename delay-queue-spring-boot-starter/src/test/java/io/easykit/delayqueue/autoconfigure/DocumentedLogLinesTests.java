package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The log lines that the documentation explains are those that the code writes. */
class DocumentedLogLinesTests {

    private static final Path PAGE = Path.of("..", "docs", "delay-queue", "operations.md");
    private static final String HEADING = "## Log lines";

    private static String texts = "";

    /** The texts in the code; one that goes over several lines is one text. */
    @BeforeAll
    static void readTheCode() {
        texts = Stream.of("delay-queue-spring-boot-starter", "delay-queue-core", "easykit-spring-boot")
                .map(module -> Path.of("..", module, "src", "main", "java"))
                .flatMap(DocumentedLogLinesTests::files)
                .map(DocumentedLogLinesTests::read)
                .map(code -> code.replaceAll("\"\\s*\\+\\s*\"", ""))
                .collect(Collectors.joining("\n"));
    }

    static List<String> lines() {
        return read(PAGE)
                .lines()
                .dropWhile(line -> !line.equals(HEADING))
                .skip(1)
                .takeWhile(line -> !line.startsWith("## "))
                .filter(line -> line.startsWith("| `"))
                .map(line -> line.split("`", -1)[1])
                .toList();
    }

    @ParameterizedTest
    @MethodSource("lines")
    void isWritten(String line) {
        assertThat(line.split("…|: "))
                .filteredOn(part -> !texts.contains(part.strip()))
                .isEmpty();
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
