package io.easykit.cache.test;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.easykit.test.ArchitectureRules;

@AnalyzeClasses(
        packages = {"io.easykit.cache.test", "io.easykit.test.autoconfigure"},
        importOptions = DoNotIncludeTests.class)
class ArchitectureTests {

    /** So that tests without Spring need neither Spring nor Redis on their class path, nor the engine of the queue. */
    @ArchTest
    static final ArchRule onlyTheAutoConfigurationKnowsSpring = noClasses()
            .that()
            .resideInAPackage("io.easykit.cache.test")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "org.springframework..",
                    "io.lettuce..",
                    "io.easykit.cache.redis",
                    "io.easykit.cache.aop",
                    "io.easykit.cache.autoconfigure",
                    "io.easykit.cache.test.autoconfigure",
                    "io.easykit.delayqueue.engine",
                    "io.easykit.delayqueue.test..");

    @ArchTest
    static final ArchRule packagesHaveNoCycle = ArchitectureRules.packagesHaveNoCycle();

    @ArchTest
    static final ArchRule autoConfigurations = ArchitectureRules.autoConfigurationsAreFinalWithoutPublicMembers();

    @ArchTest
    static final ArchRule nothingIsInjectedIntoFields = ArchitectureRules.nothingIsInjectedIntoFields();
}
