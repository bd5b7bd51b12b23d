package io.easykit.cache.autoconfigure;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts the statements that are prepared. */
final class CountingConnections {

    private CountingConnections() {}

    /**
     * @param part of the statements that are counted
     */
    static Connection of(Connection connection, String part, AtomicInteger count) {
        return (Connection) Proxy.newProxyInstance(
                Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("prepareStatement")
                            && ((String) arguments[0]).toLowerCase(Locale.ROOT).contains(part)) {
                        count.incrementAndGet();
                    }
                    try {
                        return method.invoke(connection, arguments);
                    } catch (InvocationTargetException failed) {
                        throw failed.getCause();
                    }
                });
    }
}
