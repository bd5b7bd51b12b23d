package io.easykit.delayqueue.jdbc;

import io.easykit.boot.JdbcSchema;
import javax.sql.DataSource;

/** Creates the tables of the outbox of sends if they are missing. */
public final class SendOutboxSchema extends JdbcSchema {

    public static final String LOCATION = "classpath:io/easykit/delayqueue/jdbc/outbox-@@platform@@.sql";

    public SendOutboxSchema(DataSource dataSource, Settings settings) {
        super(dataSource, settings);
    }
}
