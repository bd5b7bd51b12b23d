package io.easykit.cache.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.boot.JdbcSchema;
import io.easykit.boot.SchemaMode;
import io.easykit.cache.store.Outbox.Message;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** A database that hangs: no statement of the outbox waits for it without a limit. */
class OutboxTimeoutTests {

    private final List<String> executed = new ArrayList<>();
    private final List<String> unlimited = new ArrayList<>();

    @Test
    void eachStatementHasATimeout() {
        DriverManagerDataSource h2 =
                new DriverManagerDataSource("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        OutboxSchema schema = new OutboxSchema(
                h2, new JdbcSchema.Settings("easy-cache.jdbc", SchemaMode.ALWAYS, OutboxSchema.LOCATION, null));
        schema.setResourceLoader(new DefaultResourceLoader());
        schema.initializeDatabase();
        JdbcOutbox outbox = new JdbcOutbox(new Watched(h2), "ec:", () -> null);

        assertThat(outbox.id()).isNotEmpty();
        outbox.add(new Message("m", "default", List.of("user::1")), false, Duration.ZERO);
        assertThat(outbox.due("default", 10)).hasSize(1);
        assertThat(outbox.all("default", "", 10)).hasSize(1);
        outbox.close(List.of("m"));
        outbox.postpone(List.of("m"), Duration.ZERO);
        outbox.delivered(List.of("m"), Duration.ofSeconds(30));
        outbox.redeliver("default");
        assertThat(outbox.backlog("default").waiting()).isEqualTo(1);
        outbox.delete(List.of("m"));

        assertThat(executed).hasSizeGreaterThan(10);
        assertThat(unlimited).isEmpty();
    }

    private final class Watched extends DelegatingDataSource {

        Watched(DriverManagerDataSource target) {
            super(target);
        }

        @Override
        public Connection getConnection() throws SQLException {
            Connection connection = super.getConnection();
            return proxy(Connection.class, (proxy, method, arguments) -> {
                Object result = call(connection, method, arguments);
                return result instanceof PreparedStatement statement
                        ? watched(statement, String.valueOf(arguments[0]))
                        : result;
            });
        }

        private PreparedStatement watched(PreparedStatement statement, String sql) {
            AtomicBoolean limited = new AtomicBoolean();
            return proxy(PreparedStatement.class, (proxy, method, arguments) -> {
                if (method.getName().equals("setQueryTimeout")) {
                    limited.set(true);
                } else if (method.getName().startsWith("execute")) {
                    executed.add(sql);
                    if (!limited.get()) {
                        unlimited.add(sql);
                    }
                }
                return call(statement, method, arguments);
            });
        }
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private static Object call(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException failed) {
            throw failed.getCause();
        }
    }
}
