package io.easykit.delayqueue;

import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.easykit.test.ArchitectureRules;
import java.time.Clock;

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
                    "the key prefix is asked for",
                    call -> call.getTarget().getFullName().endsWith("RedisKeys.keyPrefix()")));

    /** What is due is for the store's clock to say, so a node whose clock is an hour off harms nothing. */
    @ArchTest
    static final ArchRule nobodyAsksTheClockOfTheNode = noClasses()
            .should()
            .callMethod(System.class, "currentTimeMillis")
            .orShould()
            .callMethodWhere(target(owner(assignableTo(Clock.class))))
            .orShould()
            .callMethodWhere(target(name("now")).and(target(owner(resideInAPackage("java.time")))));
}
