package io.easykit.cache.autoconfigure;

import io.easykit.cache.store.EntryStore;
import java.util.Map;

/** The stores of the cache: one for each Redis cluster. A test replaces them. */
@FunctionalInterface
public interface EntryStores {

    /** Each store by the {@code clusterId} of annotations. That of the application's own Redis is {@code default}. */
    Map<String, EntryStore> byClusterId();
}
