package io.easykit.boot;

import java.lang.reflect.Field;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** Hints for native images about the connections of both products to Redis. */
public final class LettuceHints implements RuntimeHintsRegistrar {

    private static final String RESOURCES = "io.lettuce.core.resource.ClientResources";
    private static final String CLUSTER_CLIENT = "io.lettuce.core.cluster.RedisClusterClient";
    private static final String FACTORY = "org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory";

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader loader) {
        // The resources of a connection factory of the application are wrapped by a proxy.
        if (ClassUtils.isPresent(RESOURCES, loader)) {
            hints.proxies().registerJdkProxy(ClassUtils.resolveClassName(RESOURCES, loader));
            // Connections of a product's own are made from these.
            registerField(hints, FACTORY, "configuration", loader);
            registerField(hints, CLUSTER_CLIENT, "initialUris", loader);
        }
    }

    /** Another version of the driver may not have the field, and its connections are made in another way then. */
    private static void registerField(RuntimeHints hints, String type, String name, @Nullable ClassLoader loader) {
        Field field = ReflectionUtils.findField(ClassUtils.resolveClassName(type, loader), name);
        if (field != null) {
            hints.reflection().registerField(field);
        }
    }
}
