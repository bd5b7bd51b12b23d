package io.easykit.cache.test.autoconfigure;

import io.easykit.cache.Consistency;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

@SpringBootConfiguration
@EnableAutoConfiguration
class UserApplication {

    @Bean
    Users users(JdbcTemplate database) {
        database.execute("create table if not exists users (id bigint primary key, name varchar(20))");
        database.update("merge into users values (1, 'Ann')");
        return new Users(database);
    }

    static class Users {

        private final JdbcTemplate database;

        Users(JdbcTemplate database) {
            this.database = database;
        }

        @Cacheable(prefix = "user", keys = "#id", ttl = "1m")
        public String name(long id) {
            return query(id);
        }

        @Cacheable(prefix = "strict", keys = "#id", consistency = Consistency.CP)
        public String strictName(long id) {
            return query(id);
        }

        @Cacheable(prefix = "near", keys = "#id", nearTtl = "30s", staleWindow = "0s")
        public String nearName(long id) {
            return query(id);
        }

        @Cacheable(prefix = "other", keys = "#id", clusterId = "second")
        public String nameInSecondCluster(long id) {
            return query(id);
        }

        public String query(long id) {
            return database.queryForObject("select name from users where id = ?", String.class, id);
        }

        @Transactional
        @UpdateCache(prefix = "near", keys = "#id")
        public void renameNear(long id, String name) {
            database.update("update users set name = ? where id = ?", name, id);
        }

        @Transactional
        @UpdateCache(prefix = "user", keys = "#id")
        @UpdateCache(prefix = "strict", keys = "#id")
        public void rename(long id, String name) {
            database.update("update users set name = ? where id = ?", name, id);
            if (name.isEmpty()) {
                throw new IllegalArgumentException("a name is needed");
            }
        }
    }
}
