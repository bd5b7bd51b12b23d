package io.easykit.test;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The packages that say that they are no API are those that a release does not compare with the one before. */
class ApiPackagesTests {

    private static final Pattern EXCLUDED = Pattern.compile("<exclude>(io\\.easykit[.\\w]*)</exclude>");
    private static final Pattern NAME = Pattern.compile("(?m)^package ([.\\w]+);");

    @Test
    void packagesWithoutApiAreNotCompared() throws IOException {
        for (Path module : modules()) {
            List<String> excluded = EXCLUDED.matcher(Files.readString(module.resolve("pom.xml")))
                    .results()
                    .map((MatchResult found) -> found.group(1))
                    .toList();
            Set<String> silent = new TreeSet<>();
            Set<String> skipped = new TreeSet<>();
            for (Path description : descriptions(module)) {
                String text = Files.readString(description);
                String name = NAME.matcher(text)
                        .results()
                        .map(found -> found.group(1))
                        .findFirst()
                        .orElseThrow();
                if (text.replaceAll("\\s*\\n \\* ?", " ").contains("No type is API")) {
                    silent.add(name);
                }
                if (excluded.stream().anyMatch(one -> (name + ".").startsWith(one + "."))) {
                    skipped.add(name);
                }
            }
            assertThat(skipped).as(module.toString()).isEqualTo(silent);
        }
    }

    private static List<Path> modules() throws IOException {
        try (Stream<Path> folders = Files.list(Path.of(".."))) {
            List<Path> modules = folders.filter(folder -> Files.isDirectory(folder.resolve("src/main/java/io/easykit")))
                    .filter(ApiPackagesTests::isPublished)
                    .toList();
            assertThat(modules).hasSizeGreaterThan(5);
            return modules;
        }
    }

    private static boolean isPublished(Path module) {
        return !Set.of("test-support", "sample-app")
                .contains(module.getFileName().toString());
    }

    private static List<Path> descriptions(Path module) {
        try (Stream<Path> files = Files.walk(module.resolve("src/main/java"))) {
            return files.filter(file -> file.endsWith("package-info.java")).collect(Collectors.toList());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
