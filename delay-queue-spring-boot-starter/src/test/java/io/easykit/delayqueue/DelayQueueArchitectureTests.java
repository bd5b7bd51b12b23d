package io.easykit.delayqueue;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.easykit.test.ArchitectureRules;

@AnalyzeClasses(packages = "io.easykit.delayqueue", importOptions = DoNotIncludeTests.class)
class DelayQueueArchitectureTests {

    private static final String[] PACKAGES = {
        "io.easykit.delayqueue.annotation",
        "io.easykit.delayqueue.propagation",
        "io.easykit.delayqueue.jdbc",
        "io.easykit.delayqueue.transaction",
        "io.easykit.delayqueue.listener",
        "io.easykit.delayqueue.actuate",
        "io.easykit.delayqueue.observation",
        "io.easykit.delayqueue.metrics",
        "io.easykit.delayqueue.autoconfigure"
    };

    @ArchTest
    static final ArchRule packagesHaveNoCycle = ArchitectureRules.packagesHaveNoCycle();

    @ArchTest
    static final ArchRule arrowsGoOneWay = ArchitectureRules.arrowsGoOneWay(PACKAGES);

    @ArchTest
    static final ArchRule coreAndStarterShareNoPackage =
            ArchitectureRules.sharesNoPackage("delay-queue-spring-boot-starter", PACKAGES);

    @ArchTest
    static final ArchRule autoConfigurationsAreFinalWithoutPublicMembers =
            ArchitectureRules.autoConfigurationsAreFinalWithoutPublicMembers();

    @ArchTest
    static final ArchRule nothingIsInjectedIntoFields = ArchitectureRules.nothingIsInjectedIntoFields();
}
