package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

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
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.io.support.SpringFactoriesLoader;

/** Each row of the documentation's table of mistakes: what the start of an application says of it. */
class MistakesTests {

    private static final Map<String, Class<?>> LISTENERS = Map.ofEntries(
            Map.entry("a private method", ListenerDeclarationTests.PrivateMethod.class),
            Map.entry("a static method", ListenerDeclarationTests.StaticMethod.class),
            Map.entry("no parameter for the payload", ListenerDeclarationTests.NoParameter.class),
            Map.entry("two parameters for the payload", ListenerDeclarationTests.TwoPayloads.class),
            Map.entry("a placeholder without a value", ListenerDeclarationTests.UnresolvedTopic.class),
            Map.entry("an empty topic", ListenerDeclarationTests.EmptyTopic.class),
            Map.entry("a topic with a space", ListenerDeclarationTests.ImpossibleTopic.class),
            Map.entry("a number that is none", ListenerDeclarationTests.NoNumber.class),
            Map.entry("a concurrency of 0", ListenerDeclarationTests.NothingConcurrent.class),
            Map.entry("a duration that is none", ListenerDeclarationTests.NoDuration.class),
            Map.entry("a lease of a millisecond", ListenerDeclarationTests.TinyLease.class),
            Map.entry("a batch of a thousand", ListenerDeclarationTests.HugeBatch.class),
            Map.entry("a batch without a list", ListenerDeclarationTests.BatchOfOne.class),
            Map.entry("a future", ListenerDeclarationTests.Future.class),
            Map.entry("an @Async method", ListenerDeclarationTests.AsyncMethod.class),
            Map.entry("two listeners of one id", ListenerDeclarationTests.Good.class),
            Map.entry("a lazy bean", ListenerDeclarationTests.OrdersOfItsOwn.class),
            Map.entry("a prototype", ListenerDeclarationTests.OrdersOfItsOwn.class));

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    DataRedisAutoConfiguration.class,
                    DelayQueueAutoConfiguration.class,
                    DisabledDelayQueueAutoConfiguration.class))
            .withPropertyValues("spring.data.redis.port=1", "delay-queue.auto-startup=false", "audit.id=audit");

    static List<Row> settings() {
        return MistakesTable.rows("delay-queue: settings");
    }

    static List<Row> declarations() {
        return MistakesTable.rows("delay-queue: declarations");
    }

    @ParameterizedTest
    @MethodSource("settings")
    void reportsAWrongSetting(Row row) {
        runner.withPropertyValues(row.what()).run(context -> {
            FailureAnalysis analysis = analyze(context.getStartupFailure());
            assertThat(analysis.getDescription()).contains(row.reported()).doesNotContain("secret");
            assertThat(analysis.getAction()).contains(row.remedy());
        });
    }

    @Test
    void reportsAllWrongSettingsInOneStart() {
        Map<String, Row> byName = new LinkedHashMap<>();
        settings().forEach(row -> byName.putIfAbsent(row.what().split("=", 2)[0], row));
        runner.withPropertyValues(byName.values().stream().map(Row::what).toArray(String[]::new))
                .run(context -> {
                    FailureAnalysis analysis = analyze(context.getStartupFailure());
                    assertThat(byName.values())
                            .hasSizeGreaterThan(20)
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
                            .contains(".on(")
                            .contains("of bean '")
                            .contains(row.reported());
                    assertThat(analysis.getAction()).contains(row.remedy());
                });
    }

    @Test
    void reportsAllWrongDeclarationsInOneStart() {
        runner.withInitializer(
                        context -> declarations().forEach(row -> register((GenericApplicationContext) context, row)))
                .run(context -> {
                    FailureAnalysis analysis = analyze(context.getStartupFailure());
                    assertThat(declarations())
                            .hasSize(LISTENERS.size())
                            .allSatisfy(
                                    row -> assertThat(analysis.getDescription()).contains(row.reported()))
                            .allSatisfy(row -> assertThat(analysis.getAction()).contains(row.remedy()));
                });
    }

    private static void register(GenericApplicationContext context, Row row) {
        Class<?> listener = Objects.requireNonNull(LISTENERS.get(row.what()), row.what());
        context.registerBean(row.what(), listener, definition -> {
            definition.setLazyInit(row.what().equals("a lazy bean"));
            definition.setScope(row.what().equals("a prototype") ? "prototype" : "singleton");
        });
        if (row.what().equals("two listeners of one id")) {
            context.registerBean("another", ListenerDeclarationTests.AlsoOrders.class);
        }
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
