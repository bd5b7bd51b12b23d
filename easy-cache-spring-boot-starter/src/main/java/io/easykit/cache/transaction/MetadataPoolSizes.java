package io.easykit.cache.transaction;

import io.easykit.cache.transaction.ConnectionPools.Pool;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadata;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.jdbc.datasource.AbstractDriverBasedDataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/** Reads the sizes of pools through Spring Boot's pool metadata. */
public final class MetadataPoolSizes implements PoolSizes {

    private final DataSourcePoolMetadataProvider provider;

    public MetadataPoolSizes(DataSourcePoolMetadataProvider provider) {
        this.provider = provider;
    }

    @Override
    public @Nullable Pool of(Object key) {
        DataSource target = key instanceof DataSource dataSource ? target(dataSource) : null;
        if (target instanceof AbstractRoutingDataSource routing) {
            return smallest(routing);
        }
        if (target instanceof AbstractDriverBasedDataSource) {
            return new Pool(Pool.UNLIMITED, () -> 0);
        }
        DataSourcePoolMetadata metadata =
                key instanceof DataSource dataSource ? provider.getDataSourcePoolMetadata(dataSource) : null;
        Integer size = metadata == null ? null : metadata.getMax();
        return metadata == null || size == null ? null : new Pool(size, () -> active(metadata));
    }

    private static DataSource target(DataSource dataSource) {
        DataSource target = dataSource;
        while (target instanceof DelegatingDataSource delegating && delegating.getTargetDataSource() != null) {
            target = delegating.getTargetDataSource();
        }
        return target;
    }

    /**
     * The connections of a thread may come from any of the pools, so the smallest one decides, and one that is exhausted counts
     * for all. Null if the size of one is unknown.
     */
    private @Nullable Pool smallest(AbstractRoutingDataSource routing) {
        List<DataSource> targets = targets(routing);
        List<Pool> pools =
                targets.stream().map(this::of).filter(Objects::nonNull).toList();
        if (pools.isEmpty() || pools.size() < targets.size()) {
            return null;
        }
        List<Pool> limited =
                pools.stream().filter(pool -> pool.size() != Pool.UNLIMITED).toList();
        return limited.stream()
                .min(Comparator.comparingInt(Pool::size))
                .map(smallest -> new Pool(
                        smallest.size(),
                        () -> limited.stream().anyMatch(MetadataPoolSizes::isExhausted) ? smallest.size() : 0))
                .orElse(pools.get(0));
    }

    private static List<DataSource> targets(AbstractRoutingDataSource routing) {
        try {
            return Stream.concat(
                            routing.getResolvedDataSources().values().stream(),
                            Stream.ofNullable(routing.getResolvedDefaultDataSource()))
                    .distinct()
                    .toList();
        } catch (IllegalStateException chosenInAnotherWay) {
            return List.of();
        }
    }

    private static boolean isExhausted(Pool pool) {
        return pool.active().getAsInt() >= pool.size();
    }

    private static int active(DataSourcePoolMetadata metadata) {
        Integer active = metadata.getActive();
        return active == null ? 0 : active;
    }
}
