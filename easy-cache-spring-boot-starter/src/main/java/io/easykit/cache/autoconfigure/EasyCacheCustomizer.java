package io.easykit.cache.autoconfigure;

import io.easykit.cache.EasyCache;

/** Adjusts how the application's {@link EasyCache} is built, after the settings were applied. */
@FunctionalInterface
public interface EasyCacheCustomizer {

    void customize(EasyCache.Builder builder);
}
