package io.easykit.example.catalog;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import org.springframework.stereotype.Component;

/** Components that are found by scanning. */
final class Catalog {

    private Catalog() {}

    @Component
    static class Table {
        String titleOf(long id) {
            return "none";
        }
    }

    @Component
    static class Reports {
        Reports() {
            throw new IllegalStateException("does not belong to the cache");
        }
    }

    @Component
    static class Titles {

        private final Table table;

        Titles(Table table) {
            this.table = table;
        }

        @Cacheable(prefix = "title", keys = "#id")
        String of(long id) {
            return table.titleOf(id);
        }
    }

    @Component
    static class Imports {

        @UpdateCache(prefix = "title", keys = "#id")
        void imported(long id) {}
    }

    abstract static class Cached {
        @Cacheable(prefix = "author", keys = "#id")
        String of(long id) {
            return "none";
        }
    }

    @Component
    static class Authors extends Cached {}

    interface Changes {
        @UpdateCache(prefix = "author", keys = "#id")
        @UpdateCache(prefix = "title", keys = "#id")
        void change(long id);
    }

    @Component
    static class Renaming implements Changes {
        @Override
        public void change(long id) {}
    }

    @Component
    static class Misses implements CacheListener {

        private int count;

        @Override
        public void onMiss(CacheKey<?> key) {
            count++;
        }

        int count() {
            return count;
        }
    }
}
