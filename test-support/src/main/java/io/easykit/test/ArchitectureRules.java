package io.easykit.test;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noConstructors;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.CompositeArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.util.Arrays;

/**
 * Architecture rules for the classes of every module, or of every starter. Using it requires ArchUnit on the class
 * path.
 */
public final class ArchitectureRules {

    private static final String AUTO_CONFIGURATION = "org.springframework.boot.autoconfigure.AutoConfiguration";

    private ArchitectureRules() {}

    public static ArchRule packagesHaveNoCycle() {
        return slices().matching("io.easykit.(**)").should().beFreeOfCycles();
    }

    /**
     * No two top-level classes of the package depend on each other, directly or by way of others of the package. Nested
     * classes count as part of their top-level class.
     */
    public static ArchRule classesHaveNoCycle(String packageName) {
        return slices().assignedFrom(new SliceAssignment() {
                    @Override
                    public SliceIdentifier getIdentifierOf(JavaClass type) {
                        return type.getPackageName().equals(packageName)
                                ? SliceIdentifier.of(topLevel(type).getName())
                                : SliceIdentifier.ignore();
                    }

                    @Override
                    public String getDescription() {
                        return "classes of " + packageName;
                    }
                })
                .should()
                .beFreeOfCycles();
    }

    private static JavaClass topLevel(JavaClass type) {
        return type.getEnclosingClass().map(ArchitectureRules::topLevel).orElse(type);
    }

    /**
     * Packages depend only on packages listed before them. Other packages depend on none of them.
     *
     * @param packages the packages, lowest first
     */
    public static ArchRule arrowsGoOneWay(String... packages) {
        CompositeArchRule rule = CompositeArchRule.of(noClasses()
                .that()
                .resideOutsideOfPackages(packages)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(packages));
        for (int i = 0; i < packages.length - 1; i++) {
            rule = rule.and(noClasses()
                    .that()
                    .resideInAPackage(packages[i])
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(Arrays.copyOfRange(packages, i + 1, packages.length)));
        }
        return rule;
    }

    /**
     * A module has classes in these packages only, and no other module has classes in them.
     *
     * @param module name of its folder
     */
    public static ArchRule sharesNoPackage(String module, String... packages) {
        DescribedPredicate<JavaClass> ofModule = describe(
                "are of " + module,
                type -> type.getSource().orElseThrow().getUri().toString().contains("/" + module + "/"));
        return CompositeArchRule.of(classes().that(ofModule).should().resideInAnyPackage(packages))
                .and(noClasses().that(not(ofModule)).should().resideInAnyPackage(packages));
    }

    public static ArchRule autoConfigurationsAreFinalWithoutPublicMembers() {
        return CompositeArchRule.of(classes()
                        .that()
                        .areAnnotatedWith(AUTO_CONFIGURATION)
                        .should()
                        .bePublic()
                        .andShould()
                        .haveModifier(JavaModifier.FINAL)
                        .andShould()
                        .resideInAPackage("..autoconfigure"))
                .and(methods()
                        .that()
                        .areDeclaredInClassesThat()
                        .areAnnotatedWith(AUTO_CONFIGURATION)
                        .should()
                        .notBePublic())
                .and(noConstructors()
                        .that()
                        .areDeclaredInClassesThat()
                        .areAnnotatedWith(AUTO_CONFIGURATION)
                        .should()
                        .bePublic());
    }

    public static ArchRule nothingIsInjectedIntoFields() {
        return noFields()
                .should()
                .beAnnotatedWith("org.springframework.beans.factory.annotation.Autowired")
                .orShould()
                .beAnnotatedWith("org.springframework.beans.factory.annotation.Value");
    }
}
