package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.store.QueueBackend;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/** Hints for native images: scripts, tables, and the store of a disabled queue. */
final class DelayQueueHints implements RuntimeHintsRegistrar {

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader loader) {
        hints.resources().registerPattern("io/easykit/delayqueue/redis/*.lua");
        hints.resources().registerPattern("io/easykit/delayqueue/jdbc/*.sql");
        hints.proxies().registerJdkProxy(QueueBackend.class);
    }
}
