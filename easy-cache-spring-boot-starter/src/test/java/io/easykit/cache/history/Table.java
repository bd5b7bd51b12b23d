package io.easykit.cache.history;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import java.util.function.IntConsumer;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** The register of each key in the database: its version, which each update increments. */
final class Table implements AutoCloseable {

    private final HikariDataSource pool;
    private final JdbcTemplate jdbc;
    private final TransactionTemplate transaction;

    Table(String url) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(20);
        config.setMinimumIdle(2);
        config.setConnectionTimeout(Duration.ofSeconds(60).toMillis());
        this.pool = new HikariDataSource(config);
        this.jdbc = new JdbcTemplate(pool);
        this.transaction = new TransactionTemplate(new DataSourceTransactionManager(pool));
    }

    /** Makes the tables of keys and of the outbox. */
    void create(Iterable<String> keys) {
        jdbc.execute("runscript from 'classpath:io/easykit/cache/jdbc/schema-h2.sql'");
        jdbc.execute("create table register (id varchar(40) primary key, version int)");
        keys.forEach(key -> jdbc.update("insert into register values (?, 0)", key));
    }

    HikariDataSource dataSource() {
        return pool;
    }

    int version(String key) {
        return jdbc.queryForObject("select version from register where id = ?", Integer.class, key);
    }

    /** @param beforeCommit receives the new version */
    void increment(String key, IntConsumer beforeCommit) {
        transaction.executeWithoutResult(status -> {
            int version =
                    jdbc.queryForObject("select version from register where id = ? for update", Integer.class, key);
            jdbc.update("update register set version = ? where id = ?", version + 1, key);
            beforeCommit.accept(version + 1);
        });
    }

    @Override
    public void close() {
        pool.close();
    }
}
