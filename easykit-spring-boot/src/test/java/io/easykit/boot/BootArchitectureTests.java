package io.easykit.boot;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition;
import io.easykit.test.ArchitectureRules;

@AnalyzeClasses(packages = "io.easykit", importOptions = DoNotIncludeTests.class)
class BootArchitectureTests {

    @ArchTest
    static final ArchRule knowsNoProduct = ArchRuleDefinition.noClasses()
            .that()
            .resideInAPackage("io.easykit.boot")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.easykit.cache..", "io.easykit.delayqueue..", "io.easykit.redis..");

    @ArchTest
    static final ArchRule nothingIsInjectedIntoFields = ArchitectureRules.nothingIsInjectedIntoFields();
}
