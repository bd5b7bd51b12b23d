package io.easykit.cache.autoconfigure;

import io.easykit.cache.EasyCache;

/** Customizes the builder of the application's {@link EasyCache}, after the settings are applied. */
@FunctionalInterface
public interface EasyCacheCustomizer {

    void customize(EasyCache.Builder builder);
}
