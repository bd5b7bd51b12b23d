package io.easykit.delayqueue;

import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.easykit.test.ArchitectureRules;
import java.time.Clock;

@AnalyzeClasses(packages = "io.easykit.delayqueue", importOptions = DoNotIncludeTests.class)
class ArchitectureTests {

    private static final String ROOT = "io.easykit.delayqueue";
    private static final String ADMIN = "io.easykit.delayqueue.admin";
    private static final String SUPPORT = "io.easykit.delayqueue.support";
    private static final String STORE = "io.easykit.delayqueue.store";
    private static final String TIME = "io.easykit.delayqueue.time";
    private static final String ENGINE = "io.easykit.delayqueue.engine";
    private static final String REDIS = "io.easykit.delayqueue.redis";
    private static final String MEMORY = "io.easykit.delayqueue.memory";
    private static final String JACKSON = "io.easykit.delayqueue.jackson";

    private static final int MOST_TYPES_IN_THE_ROOT = 35;

    @ArchTest
    static final ArchRule theRootKnowsJavaSlf4jAndJSpecifyOnly = classes()
            .that()
            .resideInAPackage(ROOT)
            .should()
            .onlyDependOnClassesThat(
                    resideInAnyPackage(ROOT, SUPPORT, "java..", "org.slf4j", "org.jspecify.annotations"));

    @ArchTest
    static final ArchRule supportKnowsJavaOnly = classes()
            .that()
            .resideInAPackage(SUPPORT)
            .should()
            .onlyDependOnClassesThat(resideInAnyPackage(SUPPORT, "java..", "org.jspecify.annotations"));

    @ArchTest
    static final ArchRule administrationKnowsTheRoot = classes()
            .that()
            .resideInAPackage(ADMIN)
            .should()
            .onlyDependOnClassesThat(resideInAnyPackage(ROOT, SUPPORT, ADMIN, "java..", "org.jspecify.annotations"));

    @ArchTest
    static final ArchRule theStoreKnowsTheRootAndAdministration = classes()
            .that()
            .resideInAPackage(STORE)
            .should()
            .onlyDependOnClassesThat(
                    resideInAnyPackage(ROOT, SUPPORT, ADMIN, STORE, "java..", "org.jspecify.annotations"));

    @ArchTest
    static final ArchRule timeKnowsJavaOnly = classes()
            .that()
            .resideInAPackage(TIME)
            .should()
            .onlyDependOnClassesThat(resideInAnyPackage(TIME, "java..", "org.slf4j", "org.jspecify.annotations"));

    @ArchTest
    static final ArchRule theEngineKnowsTheRootTheStoreAndTime = classes()
            .that()
            .resideInAPackage(ENGINE)
            .should()
            .onlyDependOnClassesThat(resideInAnyPackage(
                    ROOT, SUPPORT, ADMIN, STORE, TIME, ENGINE, "java..", "org.slf4j", "org.jspecify.annotations"));

    @ArchTest
    static final ArchRule redisKnowsTheRootAndTheStore = noClasses()
            .that()
            .resideInAPackage(REDIS)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(ENGINE, MEMORY, JACKSON);

    @ArchTest
    static final ArchRule theStoreInMemoryKnowsTheRootAndTheStore = classes()
            .that()
            .resideInAPackage(MEMORY)
            .should()
            .onlyDependOnClassesThat(
                    resideInAnyPackage(ROOT, SUPPORT, ADMIN, STORE, MEMORY, "java..", "org.jspecify.annotations"));

    @ArchTest
    static final ArchRule theStoreInMemoryShowsItsStore = classes()
            .that()
            .resideInAPackage(MEMORY)
            .and()
            .arePublic()
            .and()
            .areTopLevelClasses()
            .should()
            .haveSimpleName("InMemoryQueueStore");

    @ArchTest
    static final ArchRule jacksonKnowsTheRoot = noClasses()
            .that()
            .resideInAPackage(JACKSON)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(ADMIN, STORE, TIME, ENGINE, REDIS, MEMORY);

    @ArchTest
    static final ArchRule theRootAdministrationAndTheStoreArePublic = classes()
            .that()
            .resideInAnyPackage(ROOT, SUPPORT, ADMIN, STORE)
            .and()
            .areTopLevelClasses()
            .and()
            .doNotHaveSimpleName("package-info")
            .should()
            .bePublic();

    @ArchTest
    static final ArchRule theEngineShowsItsBuilderAndTheContainer = classes()
            .that()
            .resideInAPackage(ENGINE)
            .and()
            .arePublic()
            .and()
            .areTopLevelClasses()
            .should()
            .haveSimpleName("DelayQueueEngine")
            .orShould()
            .haveSimpleName("ListenerContainer");

    @ArchTest
    static void theRootIsSmall(JavaClasses classes) {
        assertThat(classes.stream()
                        .filter(type -> type.getPackageName().equals(ROOT) && type.isTopLevelClass())
                        .filter(type -> !type.getSimpleName().equals("package-info"))
                        .map(JavaClass::getSimpleName))
                .hasSizeLessThanOrEqualTo(MOST_TYPES_IN_THE_ROOT);
    }

    @ArchTest
    static final ArchRule packagesHaveNoCycle = ArchitectureRules.packagesHaveNoCycle();

    @ArchTest
    static final ArchRule theClassesOfTheEngineHaveNoCycle = ArchitectureRules.classesHaveNoCycle(ENGINE);

    @ArchTest
    static final ArchRule theClassesOfTheStoreInMemoryHaveNoCycle = ArchitectureRules.classesHaveNoCycle(MEMORY);

    @ArchTest
    static final ArchRule oneClassSpellsTheKeys = noClasses()
            .that()
            .doNotHaveSimpleName("RedisKeys")
            .should()
            .callMethodWhere(com.tngtech.archunit.base.DescribedPredicate.describe(
                    "the key prefix is asked for",
                    call -> call.getTarget().getFullName().endsWith("RedisKeys.keyPrefix()")));

    /**
     * Due times are compared with the store's clock only, so a node whose clock is an hour off does no harm. What removes dead letters by
     * their age asks both clocks.
     */
    @ArchTest
    static final ArchRule nobodyAsksTheClockOfTheNode = noClasses()
            .that()
            .doNotHaveSimpleName("DeadLetterScripts")
            .should()
            .callMethod(System.class, "currentTimeMillis")
            .orShould()
            .callMethodWhere(target(owner(assignableTo(Clock.class))))
            .orShould()
            .callMethodWhere(target(name("now")).and(target(owner(resideInAPackage("java.time")))));
}
