package io.easykit.test;

import io.easykit.test.MistakesTable.Row;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.support.GenericApplicationContext;

/** Runs each row of a product's tables in the list of mistakes, and checks the report of the start. */
public abstract class MistakesContract {

    private final String product;
    private final ApplicationContextRunner runner;

    /** @param runner runner of a valid application */
    protected MistakesContract(String product, ApplicationContextRunner runner) {
        this.product = product;
        this.runner = runner;
    }

    /** Defines the beans of an invalid declaration. */
    protected abstract void register(GenericApplicationContext context, String declaration);

    /** Fails when it is created. */
    static class Victim {
        Victim() {
            throw new IllegalStateException("A bean was created before the report");
        }
    }

    @TestFactory
    Stream<DynamicTest> reportsAWrongSetting() {
        return settings().stream()
                .map(row -> DynamicTest.dynamicTest(
                        row.what(), () -> assertReported(runner.withPropertyValues(row.what()), List.of(row))));
    }

    @TestFactory
    Stream<DynamicTest> reportsAWrongDeclaration() {
        return declarations().stream()
                .map(row ->
                        DynamicTest.dynamicTest(row.what(), () -> assertReported(with(List.of(row)), List.of(row))));
    }

    @Test
    void reportsAllWrongDeclarationsInOneStart() {
        assertReported(with(declarations()), declarations());
    }

    @Test
    void reportsAllWrongSettingsAndDeclarationsInOneStart() {
        List<Row> settings = together(settings());
        List<Row> all = new ArrayList<>(settings);
        all.addAll(declarations());
        assertReported(
                with(declarations())
                        .withPropertyValues(settings.stream().map(Row::what).toArray(String[]::new)),
                all);
    }

    @Test
    void reportsWrongSettingsBeforeAnyBeanFails() {
        List<Row> settings = together(settings());
        assertReported(
                runner.withBean(Victim.class)
                        .withPropertyValues(settings.stream().map(Row::what).toArray(String[]::new)),
                settings);
    }

    private List<Row> settings() {
        return MistakesTable.rows(product + ": settings");
    }

    private List<Row> declarations() {
        return MistakesTable.rows(product + ": declarations");
    }

    /** Keeps one row for each setting name. Each mistake of a cluster gets a separate cluster. */
    private static List<Row> together(List<Row> rows) {
        Map<String, Row> byName = new LinkedHashMap<>();
        for (Row row : rows) {
            String own = "trade-" + Integer.toHexString(row.what().hashCode());
            Row alone = row.what().contains(".clusters.trade.")
                    ? new Row(row.what().replace("trade", own), row.reported().replace("trade", own), row.remedy())
                    : row;
            byName.putIfAbsent(alone.what().split("=", 2)[0], alone);
        }
        return List.copyOf(byName.values());
    }

    private ApplicationContextRunner with(List<Row> declarations) {
        return runner.withInitializer(
                context -> declarations.forEach(row -> register((GenericApplicationContext) context, row.what())));
    }

    private static void assertReported(ApplicationContextRunner mistaken, List<Row> rows) {
        mistaken.run(context -> MistakesTable.assertReported(context.getStartupFailure(), rows));
    }
}
