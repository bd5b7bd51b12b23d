package io.easykit.boot;

import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.util.ClassUtils;

/** Hints for native images about the connections of both products to Redis. */
public final class LettuceHints implements RuntimeHintsRegistrar {

    private static final String RESOURCES = "io.lettuce.core.resource.ClientResources";

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader loader) {
        // The resources of a connection factory of the application are wrapped by a proxy.
        if (ClassUtils.isPresent(RESOURCES, loader)) {
            hints.proxies().registerJdkProxy(ClassUtils.resolveClassName(RESOURCES, loader));
        }
    }
}
