package io.easykit.cache;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.lang.ArchRule;
import io.easykit.test.ArchitectureRules;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class CoreArchitectureTests {

    private static final String ROOT = "io.easykit.cache";

    private static final JavaClasses CORE =
            new ClassFileImporter().withImportOption(new DoNotIncludeTests()).importPackages(ROOT);

    @Test
    void packagesHaveNoCycle() {
        check(ArchitectureRules.packagesHaveNoCycle());
    }

    @Test
    void rootKnowsNoClientAndNoSpring() {
        check(classes()
                .that()
                .resideInAPackage(ROOT)
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(ROOT, "java..", "org.slf4j", "org.jspecify.annotations"));
    }

    @Test
    void levelsKnowNothingOfOneAnother() {
        List<String> levels = List.of(ROOT + ".redis", ROOT + ".caffeine", ROOT + ".jackson");
        for (String level : levels) {
            String[] others =
                    levels.stream().filter(other -> !other.equals(level)).toArray(String[]::new);
            check(noClasses()
                    .that()
                    .resideInAPackage(level)
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(others));
        }
    }

    @Test
    void onlyOneClassSpellsKeys() throws IOException {
        try (Stream<Path> sources = Files.walk(Path.of("src/main/java"))) {
            assertThat(sources.filter(Files::isRegularFile)
                            .filter(CoreArchitectureTests::spellsKeys)
                            .map(Path::getFileName)
                            .map(Path::toString))
                    .containsExactly("CacheKey.java");
        }
    }

    private static boolean spellsKeys(Path source) {
        try {
            return Files.readString(source).contains("\"ec:");
        } catch (IOException unreadable) {
            throw new AssertionError(unreadable);
        }
    }

    private static void check(ArchRule rule) {
        rule.check(CORE);
    }
}
