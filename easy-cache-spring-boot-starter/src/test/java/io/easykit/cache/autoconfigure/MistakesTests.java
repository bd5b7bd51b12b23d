package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.annotation.UpdateCache;
import io.easykit.test.MistakesTable;
import io.easykit.test.MistakesTable.Row;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.io.support.SpringFactoriesLoader;

/** Each row of the documentation's table of mistakes: what the start of an application says of it. */
class MistakesTests {

    private static final Map<String, Class<?>> BEANS = Map.ofEntries(
            Map.entry("a key names an unknown parameter", CacheDeclarationTests.MisspeltName.class),
            Map.entry("a key without a hash", CacheDeclarationTests.ForgottenHash.class),
            Map.entry("a key over the result of a read", CacheDeclarationTests.ResultTooEarly.class),
            Map.entry("a key that is no expression", CacheDeclarationTests.Malformed.class),
            Map.entry("a key names an unknown bean", CacheDeclarationTests.UnknownBean.class),
            Map.entry("no key", CacheDeclarationTests.NoKey.class),
            Map.entry("an array as key", CacheDeclarationTests.ArrayKey.class),
            Map.entry("a set as key", CacheDeclarationTests.SetKey.class),
            Map.entry("a final method", CacheDeclarationTests.FinalMethod.class),
            Map.entry("a static method", CacheDeclarationTests.StaticMethod.class),
            Map.entry("a final class", CacheDeclarationTests.FinalClass.class),
            Map.entry("Spring's annotation besides", CacheDeclarationTests.SpringsToo.class),
            Map.entry("a read that is an update", CacheDeclarationTests.ReadAndUpdate.class),
            Map.entry("an unknown cluster", CacheDeclarationTests.UnknownCluster.class),
            Map.entry("a method that returns nothing", CacheDeclarationTests.VoidType.class),
            Map.entry("a stream as value", CacheDeclarationTests.StreamType.class),
            Map.entry("a future as value", CacheDeclarationTests.FutureType.class),
            Map.entry("a duration without a unit", CacheDeclarationTests.NoUnit.class),
            Map.entry("an update of a prefix that nobody caches", UpdatesNothing.class));

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    AopAutoConfiguration.class,
                    SslAutoConfiguration.class,
                    DataRedisAutoConfiguration.class,
                    EasyCacheAutoConfiguration.class))
            .withPropertyValues("spring.data.redis.port=1");

    static class UpdatesNothing {
        @UpdateCache(prefix = "nobody", keys = "#id")
        public void update(long id) {}
    }

    static List<Row> settings() {
        return MistakesTable.rows("easy-cache: settings");
    }

    static List<Row> declarations() {
        return MistakesTable.rows("easy-cache: declarations");
    }

    @ParameterizedTest
    @MethodSource("settings")
    void reportsAWrongSetting(Row row) {
        runner.withPropertyValues(row.what()).run(context -> {
            FailureAnalysis analysis = analyze(context.getStartupFailure());
            assertThat(analysis.getDescription()).contains(row.reported()).doesNotContain("secret", "sec ret");
            assertThat(analysis.getAction()).contains(row.remedy());
        });
    }

    /** Those of clusters that can be read are tried with the others, when all can be read. */
    @Test
    void reportsAllWrongSettingsInOneStart() {
        assertReportedTogether(
                settings().stream().filter(row -> !isFoundByTheCluster(row)).toList());
    }

    @Test
    void reportsAllWrongClustersInOneStart() {
        assertReportedTogether(settings().stream()
                .filter(MistakesTests::isFoundByTheCluster)
                .map(row -> ofItsOwnCluster(row))
                .toList());
    }

    private static boolean isFoundByTheCluster(Row row) {
        return row.what().startsWith("easy-cache.clusters.trade")
                && !row.what().contains("hots")
                && !row.what().contains("many");
    }

    private static Row ofItsOwnCluster(Row row) {
        String id = "trade-" + Integer.toHexString(row.what().hashCode());
        return new Row(row.what().replace("trade", id), row.reported().replace("trade", id), row.remedy());
    }

    private void assertReportedTogether(List<Row> rows) {
        Map<String, Row> byName = new LinkedHashMap<>();
        rows.forEach(row -> byName.putIfAbsent(row.what().split("=", 2)[0], row));
        runner.withPropertyValues(byName.values().stream().map(Row::what).toArray(String[]::new))
                .run(context -> {
                    FailureAnalysis analysis = analyze(context.getStartupFailure());
                    assertThat(byName.values())
                            .hasSizeGreaterThan(6)
                            .allSatisfy(
                                    row -> assertThat(analysis.getDescription()).contains(row.reported()))
                            .allSatisfy(row -> assertThat(analysis.getAction()).contains(row.remedy()));
                });
    }

    @ParameterizedTest
    @MethodSource("declarations")
    void reportsAWrongDeclaration(Row row) {
        runner.withInitializer(context -> register((GenericApplicationContext) context, row))
                .run(context -> {
                    FailureAnalysis analysis = analyze(context.getStartupFailure());
                    assertThat(analysis.getDescription())
                            .contains(Objects.requireNonNull(BEANS.get(row.what()))
                                            .getName() + ".")
                            .contains(row.reported());
                    assertThat(analysis.getAction()).contains(row.remedy());
                });
    }

    @Test
    void reportsAllWrongDeclarationsInOneStart() {
        List<Row> rows = declarations();
        runner.withInitializer(context -> rows.forEach(row -> register((GenericApplicationContext) context, row)))
                .run(context -> {
                    FailureAnalysis analysis = analyze(context.getStartupFailure());
                    assertThat(rows)
                            .hasSize(BEANS.size())
                            .allSatisfy(
                                    row -> assertThat(analysis.getDescription()).contains(row.reported()))
                            .allSatisfy(row -> assertThat(analysis.getAction()).contains(row.remedy()));
                });
    }

    private static void register(GenericApplicationContext context, Row row) {
        context.registerBean(row.what(), Objects.requireNonNull(BEANS.get(row.what()), row.what()));
    }

    /** By the analyzer that an application would take: the first in order that has something to say. */
    private static FailureAnalysis analyze(Throwable failure) {
        assertThat(failure).isNotNull();
        return SpringFactoriesLoader.forDefaultResourceLocation()
                .load(FailureAnalyzer.class, (type, name, needsArguments) -> {})
                .stream()
                .map(analyzer -> analyzer.analyze(failure))
                .filter(Objects::nonNull)
                .findFirst()
                .orElseThrow(() -> new AssertionError("A stack trace alone", failure));
    }
}
