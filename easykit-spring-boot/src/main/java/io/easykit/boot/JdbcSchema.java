package io.easykit.boot;

import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.jdbc.init.PlatformPlaceholderDatabaseDriverResolver;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;
import org.springframework.util.StringUtils;

/** Creates the tables of a product if they are missing. Scripts exist for H2, MySQL, MariaDB and PostgreSQL. */
public class JdbcSchema extends DataSourceScriptDatabaseInitializer {

    private final Settings settings;

    public JdbcSchema(DataSource dataSource, Settings settings) {
        super(dataSource, settings.forInitializer(dataSource));
        this.settings = settings;
    }

    /**
     * The settings of a schema.
     *
     * @param prefix prefix of their names, for example {@code easy-cache.jdbc}
     * @param mode when the script runs
     * @param location location of the script; {@code @@platform@@} is replaced with the platform
     * @param platform null to detect it
     */
    public record Settings(String prefix, SchemaMode mode, String location, @Nullable String platform) {

        private DatabaseInitializationSettings forInitializer(DataSource dataSource) {
            DatabaseInitializationSettings settings = new DatabaseInitializationSettings();
            settings.setMode(DatabaseInitializationMode.valueOf(mode.name()));
            settings.setSchemaLocations(locations(dataSource));
            // Two nodes may create it at the same time. If it is still missing afterwards, the start fails.
            settings.setContinueOnError(true);
            return settings;
        }

        private List<String> locations(DataSource dataSource) {
            boolean runs = mode == SchemaMode.ALWAYS
                    || (mode == SchemaMode.EMBEDDED && EmbeddedDatabaseConnection.isEmbedded(dataSource));
            if (!runs) {
                return List.of(); // also if the database cannot be reached
            }
            PlatformPlaceholderDatabaseDriverResolver resolver = new PlatformPlaceholderDatabaseDriverResolver();
            try {
                return StringUtils.hasText(platform)
                        ? resolver.resolveAll(platform, location)
                        : resolver.resolveAll(dataSource, location);
            } catch (IllegalStateException unknown) {
                // A database that does not answer is no mistake in the settings.
                throw unknown.getCause() == null ? problem(unknown) : unknown;
            }
        }

        private InvalidConfigurationException problem(IllegalStateException cause) {
            return new InvalidConfigurationException(Problem.setting(
                    prefix + ".schema",
                    "'" + location + "', which cannot be run: " + cause.getMessage(),
                    "Set an existing script, or set " + prefix + ".platform to h2, mariadb, mysql or postgresql;"
                            + " or create the table manually and set " + prefix + ".initialize-schema to never."));
        }
    }

    /** Reports the setting if the script does not exist. */
    @Override
    public void afterPropertiesSet() throws Exception {
        try {
            super.afterPropertiesSet();
        } catch (IllegalStateException missing) {
            throw settings.problem(missing);
        }
    }
}
