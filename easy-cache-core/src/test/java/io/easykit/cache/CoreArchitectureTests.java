package io.easykit.cache;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.lang.ArchRule;
import io.easykit.test.ArchitectureRules;
import java.util.List;
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
    void onlyOneClassSpellsRedisKeys() {
        check(noClasses()
                .that()
                .resideInAPackage(ROOT + ".redis")
                .and()
                .doNotHaveSimpleName("RedisKeys")
                .should()
                .callMethod(CacheKey.class, "name")
                .orShould()
                .callMethodWhere(describe(
                        "the key prefix is read",
                        call -> call.getTarget().getFullName().endsWith("RedisKeys.keyPrefix()"))));
    }

    private static void check(ArchRule rule) {
        rule.check(CORE);
    }
}
