package io.easykit.cache.jdbc;

import io.easykit.boot.JdbcSchema;
import javax.sql.DataSource;

/** Creates the table of the outbox if it is missing. */
public final class OutboxSchema extends JdbcSchema {

    public static final String LOCATION = "classpath:io/easykit/cache/jdbc/schema-@@platform@@.sql";

    public OutboxSchema(DataSource dataSource, Settings settings) {
        super(dataSource, settings);
    }
}
