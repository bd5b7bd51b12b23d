package io.easykit.delayqueue;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.easykit.test.ArchitectureRules;

@AnalyzeClasses(packages = "io.easykit.delayqueue", importOptions = DoNotIncludeTests.class)
class ArchitectureTests {

    @ArchTest
    static final ArchRule theRootKnowsJavaSlf4jAndJSpecifyOnly = classes()
            .that()
            .resideInAPackage("io.easykit.delayqueue")
            .should()
            .onlyDependOnClassesThat(
                    resideInAnyPackage("io.easykit.delayqueue", "java..", "org.slf4j", "org.jspecify.annotations"));

    @ArchTest
    static final ArchRule nothingDependsOnTheStoreInRedis = noClasses()
            .that(resideOutsideOfPackage("io.easykit.delayqueue.redis"))
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.easykit.delayqueue.redis");

    @ArchTest
    static final ArchRule packagesHaveNoCycle = ArchitectureRules.packagesHaveNoCycle();

    @ArchTest
    static final ArchRule oneClassSpellsTheKeys = noClasses()
            .that()
            .doNotHaveSimpleName("RedisKeys")
            .should()
            .callMethodWhere(com.tngtech.archunit.base.DescribedPredicate.describe(
                    "the namespace is asked for",
                    call -> call.getTarget().getFullName().endsWith("RedisKeys.namespace()")));
}
