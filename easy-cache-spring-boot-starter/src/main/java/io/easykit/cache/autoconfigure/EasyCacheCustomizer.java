package io.easykit.cache.autoconfigure;

import io.easykit.cache.EasyCache;
import io.easykit.cache.engine.EasyCacheEngine;

/** Customizes the builder of the application's {@link EasyCache}, after the settings are applied. */
@FunctionalInterface
public interface EasyCacheCustomizer {

    void customize(EasyCacheEngine.Builder builder);
}
