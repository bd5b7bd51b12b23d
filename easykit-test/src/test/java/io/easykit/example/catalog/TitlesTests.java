package io.easykit.example.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import io.easykit.cache.test.EasyCacheTester;
import io.easykit.cache.test.autoconfigure.EasyCacheTest;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.ApplicationContext;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

@EasyCacheTest
class TitlesTests {

    @Autowired
    EasyCacheTester cache;

    @Autowired
    Catalog.Titles titles;

    @MockitoBean
    Catalog.Table table;

    @Test
    void createsUpdatesAndListeners(@Autowired Catalog.Imports imports, @Autowired Catalog.Misses misses) {
        int before = misses.count();
        when(table.titleOf(7)).thenReturn("Moby Dick");
        titles.of(7);
        assertThat(misses.count()).isEqualTo(before + 1);

        imports.imported(7);
        assertThat(cache).hasEntry("title", 7L).isStale();
    }

    @Test
    void createsComponentsWhoseMethodIsInherited(
            @Autowired Catalog.Authors authors, @Autowired Catalog.Changes changes) {
        authors.of(7);
        assertThat(cache).hasLoads("author", 1);

        changes.change(7);
        assertThat(cache).hasEntry("author", 7L).isStale();
    }

    /** Class proxies, as in production. */
    @Test
    void injectsAComponentWithAnInterfaceByItsClass(@Autowired Catalog.Renaming renaming) {
        titles.of(7);

        renaming.change(7);

        assertThat(cache).hasEntry("title", 7L).isStale();
    }

    @Test
    void createsNothingElse(@Autowired ApplicationContext context) {
        assertThat(context.getBeanNamesForType(Catalog.Reports.class)).isEmpty();
        assertThat(context.getBeanNamesForType(DataSource.class)).isEmpty();
        assertThat(context.getBeanNamesForType(RedisConnectionFactory.class)).isEmpty();
    }

    @Test
    void readsTheTableAgainAfterTenMinutes() {
        when(table.titleOf(7)).thenReturn("Moby Dick");

        titles.of(7);
        titles.of(7);
        verify(table).titleOf(7);

        cache.advance(Duration.ofMinutes(10));
        titles.of(7);
        verify(table, times(2)).titleOf(7);
    }
}
