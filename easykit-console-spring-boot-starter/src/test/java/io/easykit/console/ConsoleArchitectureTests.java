package io.easykit.console;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.easykit.test.ArchitectureRules;

@AnalyzeClasses(packages = "io.easykit", importOptions = DoNotIncludeTests.class)
class ConsoleArchitectureTests {

    private static final String[] PACKAGES = {
        "io.easykit.console", "io.easykit.console.cache", "io.easykit.console.queue", "io.easykit.console.autoconfigure"
    };

    @ArchTest
    static final ArchRule packagesHaveNoCycle = ArchitectureRules.packagesHaveNoCycle();

    @ArchTest
    static final ArchRule arrowsGoOneWay = ArchitectureRules.arrowsGoOneWay(PACKAGES);

    @ArchTest
    static final ArchRule autoConfigurationsAreFinalWithoutPublicMembers =
            ArchitectureRules.autoConfigurationsAreFinalWithoutPublicMembers();

    @ArchTest
    static final ArchRule nothingIsInjectedIntoFields = ArchitectureRules.nothingIsInjectedIntoFields();
}
