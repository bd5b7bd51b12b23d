package io.easykit.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.test.LogLines.Line;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * A page of the documentation with a section <em>Log lines</em>. Its tables have each line of WARN or ERROR of a product in their
 * first column, and no line that the code does not write.
 */
public abstract class LogLinesContract {

    private static final String HEADING = "## Log lines";
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");

    private static final Pattern REASON = Pattern.compile("\\b[A-Z]+_[A-Z]+$");

    private final Path page;
    private final List<String> elsewhere;

    /**
     * @param page      path of the page below the folder {@code docs}
     * @param elsewhere beginnings of the names of modules whose lines other pages explain; this page has those of all others
     */
    protected LogLinesContract(String page, String... elsewhere) {
        this.page = Path.of("..", "docs").resolve(page);
        this.elsewhere = List.of(elsewhere);
    }

    @Test
    void explainsEachLineOfWarnOrError() {
        List<Line> problems = written().stream()
                .filter(line -> line.isProblem() && !line.text().isEmpty())
                .toList();
        List<String> explained = explained();
        assertThat(problems).isNotEmpty();
        assertThat(problems)
                .filteredOn(line -> explained.stream().noneMatch(line::begins))
                .isEmpty();
    }

    /** A code in capitals, such as the reason of a death, is the value of a placeholder. */
    @TestFactory
    Stream<DynamicTest> isWritten() {
        return explained().stream()
                .map(explained -> DynamicTest.dynamicTest(explained, () -> {
                    Matcher reason = REASON.matcher(explained);
                    String line = reason.replaceFirst("…");
                    assertThat(written())
                            .filteredOn(written -> written.begins(line))
                            .isNotEmpty();
                    assertThat(reason.reset().results().map(found -> '"' + found.group() + '"'))
                            .allMatch(text -> LogLines.code().contains(text));
                }));
    }

    private List<Line> written() {
        return LogLines.written(module -> elsewhere.stream().noneMatch(module::startsWith));
    }

    private List<String> explained() {
        return LogLines.read(page)
                .lines()
                .dropWhile(line -> !line.equals(HEADING))
                .skip(1)
                .takeWhile(line -> !line.startsWith("## "))
                .filter(line -> line.startsWith("| `"))
                .map(line -> line.split(" \\| ", 2)[0])
                .flatMap(cell -> CODE.matcher(cell).results().map(code -> code.group(1)))
                .toList();
    }
}
