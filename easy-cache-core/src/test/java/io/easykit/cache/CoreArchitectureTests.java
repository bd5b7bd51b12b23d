package io.easykit.cache;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.lang.ArchRule;
import io.easykit.test.ArchitectureRules;
import java.time.Clock;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class CoreArchitectureTests {

    private static final String ROOT = "io.easykit.cache";
    private static final String TYPE = ROOT + ".type";
    private static final String ASYNC = ROOT + ".async";
    private static final String ADMIN = ROOT + ".admin";
    private static final String STORE = ROOT + ".store";
    private static final String TIME = ROOT + ".time";
    private static final String ENGINE = ROOT + ".engine";
    private static final String REDIS = ROOT + ".redis";
    private static final String CAFFEINE = ROOT + ".caffeine";
    private static final String MEMORY = ROOT + ".memory";
    private static final String JACKSON = ROOT + ".jackson";
    private static final String MICROMETER = ROOT + ".micrometer";

    /** Which packages of the core each of them may use. */
    private static final Map<String, List<String>> ARROWS = Map.ofEntries(
            Map.entry(TYPE, List.of()),
            Map.entry(ROOT, List.of(TYPE)),
            Map.entry(ASYNC, List.of(ROOT, TIME)),
            Map.entry(ADMIN, List.of(ROOT)),
            Map.entry(STORE, List.of(ROOT)),
            Map.entry(TIME, List.of()),
            Map.entry(ENGINE, List.of(ROOT, TYPE, ASYNC, ADMIN, STORE, TIME)),
            Map.entry(REDIS, List.of(ROOT, STORE)),
            Map.entry(CAFFEINE, List.of(ROOT, STORE)),
            Map.entry(MEMORY, List.of(ROOT, STORE)),
            Map.entry(JACKSON, List.of(ROOT, TYPE)),
            Map.entry(MICROMETER, List.of(ROOT)));

    private static final int MOST_TYPES_IN_ROOT = 35;

    private static final JavaClasses CORE =
            new ClassFileImporter().withImportOption(new DoNotIncludeTests()).importPackages(ROOT);

    @Test
    void packagesHaveNoCycle() {
        check(ArchitectureRules.packagesHaveNoCycle());
    }

    @Test
    void arrowsBetweenPackagesGoOneWay() {
        assertThat(CORE.stream().map(JavaClass::getPackageName).distinct()).hasSameElementsAs(ARROWS.keySet());
        ARROWS.forEach((from, to) -> {
            String[] others = ARROWS.keySet().stream()
                    .filter(other -> !other.equals(from) && !to.contains(other))
                    .toArray(String[]::new);
            check(noClasses()
                    .that()
                    .resideInAPackage(from)
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(others));
        });
    }

    @Test
    void apiStoresAndEngineKnowNoClientAndNoSpring() {
        check(classes()
                .that()
                .resideInAnyPackage(ROOT, TYPE, ASYNC, ADMIN, STORE, TIME, MEMORY, ENGINE)
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(
                        ROOT,
                        TYPE,
                        ASYNC,
                        ADMIN,
                        STORE,
                        TIME,
                        MEMORY,
                        ENGINE,
                        "java..",
                        "org.slf4j",
                        "org.jspecify.annotations"));
    }

    /** Times are compared with the store's clock only, so a node whose clock is an hour off changes nothing. */
    @Test
    void nobodyAsksTheClockOfTheNode() {
        check(noClasses()
                .should()
                .callMethod(System.class, "currentTimeMillis")
                .orShould()
                .callMethodWhere(target(owner(assignableTo(Clock.class))))
                .orShould()
                .callMethodWhere(target(name("now")).and(target(owner(resideInAPackage("java.time"))))));
    }

    @Test
    void everyTypeOfTheApiAndOfTheStoresIsPublic() {
        assertThat(CORE.stream().filter(CoreArchitectureTests::isTopLevel).filter(type -> List.of(ROOT, ADMIN, STORE)
                        .contains(type.getPackageName())))
                .allMatch(CoreArchitectureTests::isPublic);
    }

    @Test
    void rootIsSmall() {
        assertThat(CORE.stream().filter(CoreArchitectureTests::isTopLevel).filter(type -> type.getPackageName()
                        .equals(ROOT)))
                .hasSizeLessThanOrEqualTo(MOST_TYPES_IN_ROOT);
    }

    @Test
    void engineShowsOnlyItsBuilder() {
        assertThat(CORE.stream()
                        .filter(CoreArchitectureTests::isTopLevel)
                        .filter(type -> type.getPackageName().equals(ENGINE))
                        .filter(CoreArchitectureTests::isPublic)
                        .map(JavaClass::getSimpleName))
                .containsExactly("EasyCacheEngine");
    }

    @Test
    void classesOfTheEngineHaveNoCircle() {
        Map<String, Set<String>> uses = new TreeMap<>();
        CORE.stream()
                .filter(type -> type.getPackageName().equals(ENGINE))
                .forEach(type -> type.getDirectDependenciesFromSelf().stream()
                        .map(Dependency::getTargetClass)
                        .filter(target -> target.getPackageName().equals(ENGINE))
                        .map(CoreArchitectureTests::fileOf)
                        .filter(target -> !target.equals(fileOf(type)))
                        .forEach(target -> uses.computeIfAbsent(fileOf(type), any -> new TreeSet<>())
                                .add(target)));
        Set<String> circles = new TreeSet<>(uses.keySet());
        circles.removeIf(type -> !reachableFrom(type, uses).contains(type));
        assertThat(circles).isEmpty();
    }

    private static Set<String> reachableFrom(String start, Map<String, Set<String>> uses) {
        Set<String> reached = new TreeSet<>();
        Deque<String> open = new ArrayDeque<>(uses.getOrDefault(start, Set.of()));
        while (!open.isEmpty()) {
            String next = open.remove();
            if (reached.add(next)) {
                open.addAll(uses.getOrDefault(next, Set.of()));
            }
        }
        return reached;
    }

    /** A nested class counts as part of its outermost one. */
    private static String fileOf(JavaClass type) {
        String name = type.getName();
        int nested = name.indexOf('$');
        return nested < 0 ? name : name.substring(0, nested);
    }

    @Test
    void onlyOneClassSpellsRedisKeys() {
        check(noClasses()
                .that()
                .resideInAPackage(REDIS)
                .and()
                .doNotHaveSimpleName("RedisKeys")
                .should()
                .callMethod(CacheKey.class, "name")
                .orShould()
                .callMethodWhere(describe(
                        "the key prefix is read",
                        call -> call.getTarget().getFullName().endsWith("RedisKeys.keyPrefix()"))));
    }

    private static boolean isTopLevel(JavaClass type) {
        return type.isTopLevelClass() && !type.getSimpleName().equals("package-info");
    }

    private static boolean isPublic(JavaClass type) {
        return type.getModifiers().contains(JavaModifier.PUBLIC);
    }

    private static void check(ArchRule rule) {
        rule.check(CORE);
    }
}
