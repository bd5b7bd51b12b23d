package io.easykit.test;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The maps of both engines name their classes: the tables of the internals page all of them, the page of the package the paths. */
class EngineMapTests {

    private static final Path ROOT = Path.of("..");
    private static final String MAIN = "src/main/java";

    /** The first column of a table about classes. */
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `([A-Z]\\w+)` \\|");

    /** All that looks like a class of this project, such as {@code `FallbackReader`}. */
    private static final Pattern NAME = Pattern.compile("`([A-Z][a-z]\\w+)`");

    private static final Pattern LINK = Pattern.compile("\\{@link ([A-Z]\\w+)}");

    enum Engine {
        CACHE("easy-cache-core", "io/easykit/cache/engine", "docs/easy-cache/internals.md", "## The engine"),
        QUEUE(
                "delay-queue-core",
                "io/easykit/delayqueue/engine",
                "docs/delay-queue/internals.md",
                "## The classes of the engine");

        private final Path folder;
        private final Path page;
        private final String title;

        Engine(String module, String folder, String page, String title) {
            this.folder = ROOT.resolve(module).resolve(MAIN).resolve(folder);
            this.page = ROOT.resolve(page);
            this.title = title;
        }

        private Set<String> classes() throws IOException {
            return classesIn(folder);
        }

        private String map() throws IOException {
            String text = Files.readString(page);
            int begin = text.indexOf(title + "\n");
            assertThat(begin).as(title).isNotNegative();
            int end = text.indexOf("\n## ", begin);
            return end < 0 ? text.substring(begin) : text.substring(begin, end);
        }
    }

    @ParameterizedTest
    @EnumSource
    void eachClassHasOneRow(Engine engine) throws IOException {
        List<String> rows = names(ROW, engine.map());

        assertThat(engine.classes()).hasSizeGreaterThan(90);
        assertThat(rows).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(engine.classes());
    }

    @ParameterizedTest
    @EnumSource
    void eachNameIsThatOfAClass(Engine engine) throws IOException {
        Set<String> all = new TreeSet<>();
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path module : modules.map(each -> each.resolve(MAIN))
                    .filter(Files::isDirectory)
                    .toList()) {
                all.addAll(classesIn(module));
            }
        }
        all.add("EngineMapTests");

        assertThat(all).containsAll(names(NAME, engine.map()));
    }

    @ParameterizedTest
    @EnumSource
    void thePageOfThePackageFollowsItsPaths(Engine engine) throws IOException {
        String page = Files.readString(engine.folder.resolve("package-info.java"));
        List<String> links = names(LINK, page);

        assertThat(engine.classes()).containsAll(links);
        assertThat(links).hasSizeGreaterThan(20);
    }

    private static List<String> names(Pattern pattern, String text) {
        return pattern.matcher(text)
                .results()
                .map((MatchResult found) -> found.group(1))
                .toList();
    }

    private static Set<String> classesIn(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".java") && !name.equals("package-info.java"))
                    .map(name -> name.replace(".java", ""))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }
}
