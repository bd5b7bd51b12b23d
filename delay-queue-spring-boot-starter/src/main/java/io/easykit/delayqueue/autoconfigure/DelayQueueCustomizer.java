package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.DelayQueueEngine;

/** Adjusts how the application's {@link DelayQueueEngine} is built, after the settings were applied. */
@FunctionalInterface
public interface DelayQueueCustomizer {

    void customize(DelayQueueEngine.Builder builder);
}
