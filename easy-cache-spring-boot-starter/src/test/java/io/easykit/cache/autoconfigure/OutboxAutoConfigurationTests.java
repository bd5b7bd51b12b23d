package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.Availability;
import io.easykit.cache.EasyCache;
import io.easykit.cache.actuate.EasyCacheHealthIndicator;
import io.easykit.cache.jdbc.JdbcOutbox;
import io.easykit.cache.metrics.ClusterMeters;
import io.easykit.cache.store.Outbox;
import io.easykit.test.StartFailure;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;
import org.springframework.boot.sql.init.dependency.DatabaseInitializationDependencyConfigurer;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** The outbox of an application, and the creation of its table. */
class OutboxAutoConfigurationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    AopAutoConfiguration.class,
                    DataSourceAutoConfiguration.class,
                    DataRedisAutoConfiguration.class,
                    EasyCacheAutoConfiguration.class,
                    EasyCacheOutboxAutoConfiguration.class))
            .withUserConfiguration(Dependencies.class)
            .withPropertyValues(
                    "spring.data.redis.port=1",
                    "spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID(),
                    "easy-cache.outbox=jdbc");

    @Configuration(proxyBeanMethods = false)
    @Import(DatabaseInitializationDependencyConfigurer.class)
    static class Dependencies {}

    @Test
    void isNoneUnlessItIsChosen() {
        runner.withPropertyValues("easy-cache.outbox=none").run(context -> {
            assertThat(context).doesNotHaveBean(Outbox.class);
            assertThat(context).doesNotHaveBean(DataSourceScriptDatabaseInitializer.class);
        });
    }

    @Test
    void createsTheTableInAnEmbeddedDatabase() {
        runner.run(context -> {
            assertThat(context).hasSingleBean(JdbcOutbox.class);
            assertThat(tables(context.getBean(DataSource.class))).isEqualTo(1);
        });
    }

    @Test
    void metersItsMessages() {
        MeterRegistry meters = new SimpleMeterRegistry();
        runner.run(context -> {
            EasyCache cache = context.getBean(EasyCache.class);
            new ClusterMeters(meters, cache);
            context.getBean(Outbox.class)
                    .add(new Outbox.Message("m", "default", List.of("user::1", "user::2")), false, Duration.ZERO);
            Objects.requireNonNull(cache.availability("default")).force(Availability.State.UNAVAILABLE);
            await().until(() -> meters.get("easycache.outbox.waiting").gauge().value() == 2);
            assertThat(meters.get("easycache.outbox.delivered").gauge().value()).isZero();
            assertThat(meters.get("easycache.outbox.oldest").gauge().value()).isBetween(0.0, 60.0);
            assertThat(new EasyCacheHealthIndicator(cache).health().getDetails().get("default"))
                    .asString()
                    .contains("waiting=2");
        });
    }

    @Test
    void takesATableThatIsThere() {
        runner.withUserConfiguration(OwnTable.class)
                .withPropertyValues("easy-cache.jdbc.initialize-schema=never")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void refusesToStartWithoutTheTable() {
        refuses(
                runner.withPropertyValues("easy-cache.jdbc.initialize-schema=never"),
                "the table easy_cache_outbox cannot be used",
                "Set easy-cache.jdbc.initialize-schema to always");
    }

    @Test
    void refusesADatabaseThatTakesNoWrites(@TempDir Path directory) {
        String url = "jdbc:h2:file:" + directory.resolve("shop");
        JdbcClient.create(new DriverManagerDataSource(url, "sa", ""))
                .sql("runscript from 'classpath:io/easykit/cache/jdbc/schema-h2.sql'")
                .update();
        refuses(
                runner.withPropertyValues(
                        "easy-cache.jdbc.initialize-schema=never",
                        "spring.datasource.username=sa",
                        "spring.datasource.url=" + url + ";ACCESS_MODE_DATA=r"),
                "the table easy_cache_outbox cannot be used",
                "The database accepts no writes",
                "primary");
    }

    @Test
    void runsTheScriptOfTheApplication() {
        refuses(
                runner.withPropertyValues("easy-cache.jdbc.schema=classpath:own-outbox-@@platform@@.sql"),
                "easy-cache.jdbc.schema is 'classpath:own-outbox-@@platform@@.sql'",
                "own-outbox-h2.sql",
                "easy-cache.jdbc.platform");
    }

    @Test
    void runsTheScriptOfThePlatformThatIsSet() {
        runner.withPropertyValues(
                        "easy-cache.jdbc.platform=postgresql",
                        "spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID() + ";MODE=PostgreSQL")
                .run(context -> assertThat(context).hasSingleBean(JdbcOutbox.class));
    }

    @Test
    void refusesToStartWithoutADataSource() {
        refuses(withoutDatabase(), "jdbc, but there is no DataSource", "spring-boot-starter-jdbc");
    }

    @Test
    void refusesToStartWithoutSpringJdbc() {
        refuses(
                withoutDatabase()
                        .withClassLoader(
                                new FilteredClassLoader("org.springframework.jdbc", "org.springframework.boot.jdbc")),
                "spring-boot-jdbc is not on the class path");
    }

    private static ApplicationContextRunner withoutDatabase() {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        AopAutoConfiguration.class,
                        DataRedisAutoConfiguration.class,
                        EasyCacheAutoConfiguration.class,
                        EasyCacheOutboxAutoConfiguration.class))
                .withPropertyValues("easy-cache.outbox=jdbc");
    }

    @Test
    void refusesToGuessAmongSeveralDataSources() {
        refuses(
                runner.withUserConfiguration(OneDataSource.class, AnotherDataSource.class),
                "there are several DataSources and none of them is primary",
                "Put @EasyCacheDataSource");
    }

    @Test
    void takesTheDataSourceThatIsQualified() {
        runner.withUserConfiguration(OneDataSource.class, QualifiedDataSource.class)
                .run(context -> {
                    assertThat(context).hasSingleBean(JdbcOutbox.class);
                    assertThat(tables(context.getBean("qualified", DataSource.class)))
                            .isEqualTo(1);
                    assertThat(tables(context.getBean("one", DataSource.class))).isZero();
                });
    }

    @Test
    void startsWithoutTheDatabase() {
        runner.withPropertyValues(
                        "easy-cache.jdbc.initialize-schema=never",
                        "spring.datasource.url=jdbc:h2:tcp://127.0.0.1:1/none",
                        "spring.datasource.hikari.connection-timeout=250")
                .run(context -> assertThat(context).hasSingleBean(JdbcOutbox.class));
    }

    @Test
    void takesTheApplicationsOwnOutbox() {
        Outbox own = new JdbcOutbox(database(), "own", () -> null);
        runner.withBean("own", Outbox.class, () -> own).run(context -> {
            assertThat(context).hasSingleBean(Outbox.class);
            assertThat(context).doesNotHaveBean(DataSourceScriptDatabaseInitializer.class);
        });
    }

    @Configuration(proxyBeanMethods = false)
    static class OneDataSource {
        @Bean
        DataSource one() {
            return database();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class AnotherDataSource {
        @Bean
        DataSource another() {
            return database();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class QualifiedDataSource {
        @Bean
        @EasyCacheDataSource
        DataSource qualified() {
            return database();
        }
    }

    /** Like the table created by a migration tool. */
    @Configuration(proxyBeanMethods = false)
    static class OwnTable {
        @Bean
        DataSourceScriptDatabaseInitializer ownScript(DataSource dataSource) {
            DatabaseInitializationSettings settings = new DatabaseInitializationSettings();
            settings.setSchemaLocations(List.of("classpath:io/easykit/cache/jdbc/schema-h2.sql"));
            return new DataSourceScriptDatabaseInitializer(dataSource, settings);
        }
    }

    private static DataSource database() {
        JdbcDataSource source = new JdbcDataSource();
        source.setUrl("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        return source;
    }

    private static int tables(DataSource dataSource) {
        return JdbcClient.create(dataSource)
                .sql("select count(*) from information_schema.tables where lower(table_name) = 'easy_cache_outbox'")
                .query(Integer.class)
                .single();
    }

    private static void refuses(ApplicationContextRunner runner, String... parts) {
        runner.run(context -> {
            assertThat(context).hasFailed();
            FailureAnalysis analysis = StartFailure.analysis(context.getStartupFailure());
            assertThat(analysis.getDescription() + " | " + analysis.getAction()).contains(parts);
        });
    }
}
