package io.easykit.cache.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.jdbc.metadata.HikariDataSourcePoolMetadata;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/** Further connections behind a {@code DataSource} that chooses among pools. */
class RoutedPoolsTests {

    private final HikariDataSource small = pool(4);
    private final HikariDataSource large = pool(20);
    private final List<Connection> held = new ArrayList<>();
    private String route = "large";

    private final AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {
        @Override
        protected Object determineCurrentLookupKey() {
            return route;
        }
    };

    private static HikariDataSource pool(int size) {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl("jdbc:h2:mem:" + UUID.randomUUID());
        pool.setMaximumPoolSize(size);
        pool.setMinimumIdle(0);
        return pool;
    }

    @BeforeEach
    void start() throws SQLException {
        small.getConnection().close();
        large.getConnection().close();
        routing.setTargetDataSources(Map.of("small", small, "large", large));
        routing.afterPropertiesSet();
    }

    @AfterEach
    void close() {
        small.close();
        large.close();
    }

    private ConnectionPools pools() {
        return new ConnectionPools(new MetadataPoolSizes(RoutedPoolsTests::metadata), null);
    }

    /** As Boot's, it finds the pool that the present call is routed to. */
    private static @Nullable HikariDataSourcePoolMetadata metadata(DataSource dataSource) {
        try {
            return dataSource.isWrapperFor(HikariDataSource.class)
                    ? new HikariDataSourcePoolMetadata(dataSource.unwrap(HikariDataSource.class))
                    : null;
        } catch (SQLException unknown) {
            return null;
        }
    }

    private static int reservations(ConnectionPools pools, DataSource of) {
        int reserved = 0;
        while (reserved < 100 && pools.reserve(List.of(of)) != null) {
            reserved++;
        }
        return reserved;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void areHalfOfTheSmallestPool(boolean lazy) {
        DataSource dataSource = lazy ? new LazyConnectionDataSourceProxy(routing) : routing;
        assertThat(reservations(pools(), dataSource)).isEqualTo(2);
    }

    @Test
    void areNoneWhileAnyPoolIsExhausted() throws SQLException {
        ConnectionPools pools = pools();
        Runnable first = pools.reserve(List.of(routing));
        assertThat(first).isNotNull();
        first.run();
        route = "small";
        for (int i = 0; i < 4; i++) {
            held.add(routing.getConnection());
        }
        assertThat(reservations(pools, routing)).isZero();
        held.get(0).close();
        assertThat(reservations(pools, routing)).isEqualTo(2);
    }

    @Test
    void areNoneIfAPoolIsUnknown() {
        routing.setTargetDataSources(Map.of("small", small, "large", large, "other", new JdbcDataSource()));
        routing.afterPropertiesSet();
        assertThat(reservations(pools(), routing)).isZero();
    }

    /** Such as one that overrides {@code determineTargetDataSource}, and has no list of targets. */
    @Test
    void areNoneIfItsPoolsCannotBeListed() {
        AbstractRoutingDataSource own = new AbstractRoutingDataSource() {
            @Override
            protected Object determineCurrentLookupKey() {
                return route;
            }

            @Override
            protected DataSource determineTargetDataSource() {
                return small;
            }
        };
        assertThat(reservations(pools(), own)).isZero();
    }

    @Test
    void doNotDependOnTargetsWithoutAPool() {
        routing.setTargetDataSources(Map.of("large", large, "new", new DriverManagerDataSource("jdbc:h2:mem:x")));
        routing.afterPropertiesSet();
        assertThat(reservations(pools(), routing)).isEqualTo(10);
    }
}
