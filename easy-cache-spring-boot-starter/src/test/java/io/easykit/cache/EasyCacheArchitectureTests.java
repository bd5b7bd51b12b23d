package io.easykit.cache;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.easykit.test.ArchitectureRules;

@AnalyzeClasses(packages = "io.easykit.cache", importOptions = DoNotIncludeTests.class)
class EasyCacheArchitectureTests {

    private static final String[] PACKAGES = {
        "io.easykit.cache.annotation",
        "io.easykit.cache.style",
        "io.easykit.cache.aop",
        "io.easykit.cache.springcache",
        "io.easykit.cache.jdbc",
        "io.easykit.cache.transaction",
        "io.easykit.cache.metrics",
        "io.easykit.cache.actuate",
        "io.easykit.cache.autoconfigure"
    };

    @ArchTest
    static final ArchRule packagesHaveNoCycle = ArchitectureRules.packagesHaveNoCycle();

    @ArchTest
    static final ArchRule arrowsGoOneWay = ArchitectureRules.arrowsGoOneWay(PACKAGES);

    @ArchTest
    static final ArchRule coreAndStarterShareNoPackage =
            ArchitectureRules.sharesNoPackage("easy-cache-spring-boot-starter", PACKAGES);

    @ArchTest
    static final ArchRule autoConfigurationsAreFinalWithoutPublicMembers =
            ArchitectureRules.autoConfigurationsAreFinalWithoutPublicMembers();

    @ArchTest
    static final ArchRule nothingIsInjectedIntoFields = ArchitectureRules.nothingIsInjectedIntoFields();
}
