package io.easykit.cache.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.boot.JdbcSchema;
import io.easykit.boot.SchemaMode;
import io.easykit.cache.store.OutboxException;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** What the check at the start finds out, before an update needs the outbox. */
class OutboxCheckTests {

    private final String url = "jdbc:h2:mem:" + UUID.randomUUID();
    private final DriverManagerDataSource admin = new DriverManagerDataSource(url + ";DB_CLOSE_DELAY=-1");
    private final JdbcClient jdbc = JdbcClient.create(admin);

    @BeforeEach
    void create() {
        OutboxSchema schema = new OutboxSchema(
                admin, new JdbcSchema.Settings("easy-cache.jdbc", SchemaMode.ALWAYS, OutboxSchema.LOCATION, null));
        schema.setResourceLoader(new DefaultResourceLoader());
        schema.initializeDatabase();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "insert, update, delete",
                "select, update, delete",
                "select, insert, delete",
                "select, insert, update"
            })
    void noticesAMissingRight(String rights) {
        jdbc.sql("create user shop password 'x'").update();
        jdbc.sql("grant select, insert, update, delete on easy_cache_outbox to shop")
                .update();
        JdbcOutbox limited = new JdbcOutbox(new DriverManagerDataSource(url, "shop", "x"), "ec:", () -> null);
        assertThat(limited.check()).isTrue();

        jdbc.sql("revoke select, insert, update, delete on easy_cache_outbox from shop")
                .update();
        jdbc.sql("grant " + rights + " on easy_cache_outbox to shop").update();

        assertThatThrownBy(limited::check).isInstanceOf(OutboxException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"seq", "written_at", "open_until", "delivered"})
    void noticesAMissingColumn(String column) {
        JdbcOutbox outbox = new JdbcOutbox(admin, "ec:", () -> null);
        assertThat(outbox.check()).isTrue();

        jdbc.sql("alter table easy_cache_outbox rename column " + column + " to former")
                .update();

        assertThatThrownBy(outbox::check).isInstanceOf(OutboxException.class);
    }

    @Test
    void changesNoRow() {
        JdbcOutbox outbox = new JdbcOutbox(admin, "ec:", () -> null);
        String id = outbox.id();

        assertThat(outbox.check()).isTrue();

        assertThat(jdbc.sql("select entry_key from easy_cache_outbox")
                        .query(byte[].class)
                        .list())
                .extracting(String::new)
                .containsExactly(id);
    }
}
