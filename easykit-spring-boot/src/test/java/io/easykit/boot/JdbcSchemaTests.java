package io.easykit.boot;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.easykit.boot.JdbcSchema.Settings;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.datasource.AbstractDataSource;

class JdbcSchemaTests {

    private static final class Away extends AbstractDataSource {

        private final SQLException failure = new SQLException("the database is away");

        @Override
        public Connection getConnection() throws SQLException {
            throw failure;
        }

        @Override
        public Connection getConnection(String username, String password) throws SQLException {
            throw failure;
        }
    }

    @Test
    void reportsADatabaseThatIsAwayAsSuch() {
        Settings settings = new Settings("product.jdbc", SchemaMode.ALWAYS, "classpath:@@platform@@.sql", null);
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> new JdbcSchema(new Away(), settings))
                .withRootCauseInstanceOf(SQLException.class)
                .havingRootCause()
                .withMessage("the database is away");
    }
}
