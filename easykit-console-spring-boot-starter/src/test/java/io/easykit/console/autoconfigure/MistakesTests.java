package io.easykit.console.autoconfigure;

import io.easykit.test.MistakesTable;
import io.easykit.test.MistakesTable.Row;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;

/** Checks each row of the documented table of mistakes against the report of a start. */
class MistakesTests {

    private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(ConsoleAutoConfiguration.class))
            .withPropertyValues("easykit.console.open-to=loopback");

    @TestFactory
    Stream<DynamicTest> reportsAWrongSetting() {
        return MistakesTable.rows("console: settings").stream()
                .map(row -> DynamicTest.dynamicTest(row.what(), () -> assertReported(row)));
    }

    private void assertReported(Row row) {
        runner.withPropertyValues(row.what())
                .run(context -> MistakesTable.assertReported(context.getStartupFailure(), List.of(row)));
    }
}
