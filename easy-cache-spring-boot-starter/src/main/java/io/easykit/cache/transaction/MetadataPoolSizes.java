package io.easykit.cache.transaction;

import io.easykit.cache.transaction.ConnectionPools.Pool;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadata;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.jdbc.datasource.AbstractDriverBasedDataSource;

/** Reads the sizes of pools through Spring Boot's pool metadata. */
public final class MetadataPoolSizes implements PoolSizes {

    private final DataSourcePoolMetadataProvider provider;

    public MetadataPoolSizes(DataSourcePoolMetadataProvider provider) {
        this.provider = provider;
    }

    @Override
    public @Nullable Pool of(Object key) {
        if (key instanceof AbstractDriverBasedDataSource) {
            return new Pool(Pool.UNLIMITED, () -> 0);
        }
        DataSourcePoolMetadata metadata =
                key instanceof DataSource dataSource ? provider.getDataSourcePoolMetadata(dataSource) : null;
        Integer size = metadata == null ? null : metadata.getMax();
        return metadata == null || size == null ? null : new Pool(size, () -> active(metadata));
    }

    private static int active(DataSourcePoolMetadata metadata) {
        Integer active = metadata.getActive();
        return active == null ? 0 : active;
    }
}
