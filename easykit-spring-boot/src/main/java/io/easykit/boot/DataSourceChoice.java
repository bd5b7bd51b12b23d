package io.easykit.boot;

import java.util.function.Supplier;
import javax.sql.DataSource;
import org.springframework.beans.factory.ObjectProvider;

/** Chooses the {@link DataSource} of a product: the one with its qualifier, else the only or primary one. */
public final class DataSourceChoice {

    private DataSourceChoice() {}

    /**
     * Returns the chosen one.
     *
     * @param qualified those with the qualifier of the product
     * @param ambiguous the problem if there are several without it
     * @throws InvalidConfigurationException if none can be chosen
     */
    public static DataSource of(
            ObjectProvider<DataSource> all, ObjectProvider<DataSource> qualified, Supplier<Problem> ambiguous) {
        DataSource chosen = qualified.getIfAvailable();
        DataSource dataSource = chosen != null ? chosen : all.getIfUnique();
        if (dataSource == null) {
            throw new InvalidConfigurationException(ambiguous.get());
        }
        return dataSource;
    }
}
