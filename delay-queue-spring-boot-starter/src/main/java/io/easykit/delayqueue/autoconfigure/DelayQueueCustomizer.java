package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.engine.DelayQueueEngine;

/** Customizes the builder of the application's {@link DelayQueueEngine}, after the settings are applied. */
@FunctionalInterface
public interface DelayQueueCustomizer {

    void customize(DelayQueueEngine.Builder builder);
}
