package io.easykit.test;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A command of the documentation that names a test runs it: Maven is silent about a name that nothing has. */
class DocumentedTestsTests {

    private static final Path ROOT = Path.of("..");
    private static final Pattern NAMED = Pattern.compile("-Dtest=(\\w+Tests)\\b");

    @Test
    void testsThatTheDocumentationRunsExist() throws IOException {
        Set<String> named = filesIn(path -> path.toString().endsWith(".md"))
                .flatMap(page -> NAMED.matcher(read(page)).results().map((MatchResult found) -> found.group(1)))
                .collect(Collectors.toSet());
        List<String> tests = filesIn(path -> path.toString().endsWith("Tests.java"))
                .map(path -> path.getFileName().toString().replace(".java", ""))
                .toList();

        assertThat(named).contains("SlotMoveIntegrationTests").isSubsetOf(tests);
    }

    private static Stream<Path> filesIn(Predicate<Path> wanted) throws IOException {
        try (Stream<Path> files = Files.walk(ROOT)) {
            return files.filter(wanted).filter(path -> !path.toString().contains("/target/")).toList().stream();
        }
    }

    private static String read(Path page) {
        try {
            return Files.readString(page);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
