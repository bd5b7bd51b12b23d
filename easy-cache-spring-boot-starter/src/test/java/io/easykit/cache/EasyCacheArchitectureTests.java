package io.easykit.cache;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noConstructors;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.lang.ArchRule;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.AutoConfiguration;

class EasyCacheArchitectureTests {

    private static final String ANNOTATION = "io.easykit.cache.annotation";
    private static final String AOP = "io.easykit.cache.aop";
    private static final String AUTOCONFIGURE = "io.easykit.cache.autoconfigure";

    private static final JavaClasses ALL = new ClassFileImporter()
            .withImportOption(new DoNotIncludeTests())
            .withImportOption(location -> !location.contains("test-support"))
            .importPackages("io.easykit.cache");

    @Test
    void packagesHaveNoCycle() {
        check(slices().matching("io.easykit.(**)").should().beFreeOfCycles());
    }

    @Test
    void arrowsGoOneWay() {
        check(noClasses()
                .that()
                .resideInAPackage(ANNOTATION)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(AOP, AUTOCONFIGURE));
        check(noClasses()
                .that()
                .resideInAPackage(AOP)
                .should()
                .dependOnClassesThat()
                .resideInAPackage(AUTOCONFIGURE));
        check(noClasses()
                .that()
                .resideOutsideOfPackages(ANNOTATION, AOP, AUTOCONFIGURE)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(ANNOTATION, AOP, AUTOCONFIGURE));
    }

    @Test
    void coreAndStarterShareNoPackage() {
        Set<String> starter = ALL.stream()
                .filter(EasyCacheArchitectureTests::isOfStarter)
                .map(JavaClass::getPackageName)
                .collect(Collectors.toSet());
        assertThat(starter).containsExactlyInAnyOrder(ANNOTATION, AOP, AUTOCONFIGURE);
        assertThat(ALL.stream().filter(type -> !isOfStarter(type)).map(JavaClass::getPackageName))
                .isNotEmpty()
                .doesNotContainAnyElementsOf(starter);
    }

    @Test
    void autoConfigurationsAreFinalWithoutPublicMembers() {
        check(classes()
                .that()
                .areAnnotatedWith(AutoConfiguration.class)
                .should()
                .bePublic()
                .andShould()
                .haveModifier(JavaModifier.FINAL)
                .andShould()
                .resideInAPackage(AUTOCONFIGURE));
        check(methods()
                .that()
                .areDeclaredInClassesThat()
                .areAnnotatedWith(AutoConfiguration.class)
                .should()
                .notBePublic());
        check(noConstructors()
                .that()
                .areDeclaredInClassesThat()
                .areAnnotatedWith(AutoConfiguration.class)
                .should()
                .bePublic());
    }

    @Test
    void nothingIsInjectedIntoFields() {
        check(noFields().should().beAnnotatedWith(Autowired.class));
        check(noFields().should().beAnnotatedWith(Value.class));
    }

    private static boolean isOfStarter(JavaClass type) {
        return type.getSource().orElseThrow().getUri().toString().contains("easy-cache-spring-boot-starter");
    }

    private static void check(ArchRule rule) {
        rule.check(ALL);
    }
}
