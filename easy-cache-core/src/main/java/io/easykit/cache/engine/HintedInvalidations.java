package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.InvalidCacheKeyException;
import io.easykit.cache.async.AwaitedTask;
import io.easykit.cache.store.StoreUnavailableException;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Applies the hints of other nodes to the near level. The key of a hint leaves at once, and a fill that began before is not put
 * in any more, as with an update of this node. After a hint about a whole prefix the epochs are read, which clears the level if
 * one was raised. A hint only removes: a lost, late, repeated or wrong one changes no bound.
 */
final class HintedInvalidations implements Consumer<String> {

    private static final Logger log = LoggerFactory.getLogger(HintedInvalidations.class);

    private final String clusterId;
    private final NearEntries near;
    private final Epochs epochs;
    private final Executor background;
    private final AtomicBoolean isReadPlanned = new AtomicBoolean();

    HintedInvalidations(String clusterId, NearEntries near, Epochs epochs, EngineContext engine) {
        this.clusterId = clusterId;
        this.near = near;
        this.epochs = epochs;
        this.background = engine.background();
    }

    @Override
    public void accept(String name) {
        CacheKey<?> key;
        try {
            key = CacheKey.named(clusterId, name);
        } catch (InvalidCacheKeyException garbage) {
            log.debug("A hint names no entry", garbage);
            return;
        }
        if (key.isAll()) {
            planToReadEpochs();
        } else {
            near.invalidate(List.of(key));
        }
    }

    /** The hints of one clearing come together, one for each of its hashes: one read is enough for those that wait. */
    private void planToReadEpochs() {
        if (isReadPlanned.compareAndSet(false, true)) {
            try {
                background.execute(AwaitedTask.of(this::readEpochs, this::notRun));
            } catch (RuntimeException | Error notRun) {
                // All threads are busy, another one cannot be started, or a decorator of tasks has failed.
                notRun(notRun);
            }
        }
    }

    private void notRun(Throwable why) {
        isReadPlanned.set(false);
        log.debug("The epochs are not read after a hint. They are read again within a second", why);
    }

    private void readEpochs() {
        isReadPlanned.set(false);
        try {
            epochs.refreshAll();
        } catch (StoreUnavailableException away) {
            log.debug("The epochs could not be read after a hint. They are read again within a second", away);
        }
    }
}
