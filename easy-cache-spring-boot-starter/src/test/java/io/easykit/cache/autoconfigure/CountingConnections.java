package io.easykit.cache.autoconfigure;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts prepared statements. */
final class CountingConnections {

    private CountingConnections() {}

    /** @param part text contained in the counted statements */
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
