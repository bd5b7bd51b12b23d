package io.easykit.delayqueue.test;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.easykit.test.ArchitectureRules;

@AnalyzeClasses(packages = "io.easykit.delayqueue.test", importOptions = DoNotIncludeTests.class)
class ArchitectureTests {

    /** So that tests without Spring need neither Spring nor Redis on their class path. */
    @ArchTest
    static final ArchRule onlyTheAutoConfigurationKnowsSpring = noClasses()
            .that()
            .resideInAPackage("io.easykit.delayqueue.test")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "org.springframework..",
                    "io.lettuce..",
                    "io.easykit.delayqueue.redis",
                    "io.easykit.delayqueue.listener",
                    "io.easykit.delayqueue.autoconfigure",
                    "io.easykit.delayqueue.test.autoconfigure");

    @ArchTest
    static final ArchRule packagesHaveNoCycle = ArchitectureRules.packagesHaveNoCycle();

    @ArchTest
    static final ArchRule autoConfigurations = ArchitectureRules.autoConfigurationsAreFinalWithoutPublicMembers();

    @ArchTest
    static final ArchRule nothingIsInjectedIntoFields = ArchitectureRules.nothingIsInjectedIntoFields();
}
