package io.easykit.cache.engine;

import io.easykit.cache.CacheListener.Hit;
import io.easykit.cache.engine.ExpiredValues.Found;
import io.easykit.cache.store.EntryReply;
import io.easykit.cache.store.Peeked;
import io.easykit.cache.store.StoreUnavailableException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Expired values for the elements of a batch, as {@link StaleOnError} returns them to single readers. A batch whose loader fails
 * is served by them if each missing element has one. There is no soft timeout.
 */
final class BatchStaleOnError {

    private static final Logger log = LoggerFactory.getLogger(BatchStaleOnError.class);

    private final ExpiredValues expired;
    private final FailedLoads failed;
    private final BatchEntries batches;
    private final BatchLoads loads;
    private final BatchJoins joins;

    BatchStaleOnError(ReadParts parts, BatchParts batch, BatchJoins joins, ExpiredValues expired) {
        this.expired = expired;
        this.failed = parts.failed();
        this.batches = batch.entries();
        this.loads = batch.loads();
        this.joins = joins;
    }

    /** Serves elements whose loads have just failed. Those without an expired value stay as they are, and are loaded. */
    <K, V> void servePaused(List<BatchElement<K, V>> elements) {
        List<BatchElement<K, V>> paused = elements.stream()
                .filter(element -> failed.isPaused(element.key()))
                .toList();
        if (!paused.isEmpty()) {
            Map<BatchElement<K, V>, Found<V>> found = find(paused);
            loads.release(List.copyOf(found.keySet()));
            found.forEach((element, value) -> serve(element, value, StaleOnError.PAUSED));
        }
    }

    /** Serves all elements that have no value, if each has an expired one. */
    <K, V> boolean serveAll(BatchRead<K, V> batch, Throwable failure) {
        List<BatchElement<K, V>> missing =
                batch.elements().stream().filter(BatchStaleOnError::isMissing).toList();
        if (missing.isEmpty() || !FailedLoads.isOfSource(missing.get(0).key(), failure)) {
            return false;
        }
        Map<BatchElement<K, V>, Found<V>> found = find(missing);
        if (found.size() < missing.size()) {
            return false;
        }
        found.forEach((element, value) -> serve(element, value, ErrorText.of(failure)));
        return true;
    }

    private static boolean isMissing(BatchElement<?, ?> element) {
        LoadResult<?> result = element.result();
        return result == null ? element.away() == null : result.failure() != null;
    }

    private <K, V> void serve(BatchElement<K, V> element, Found<V> found, String why) {
        if (found.expired()) {
            joins.countExpired(element);
            failed.served(element.key(), why);
        } else {
            joins.countHit(element, Hit.FRESH);
        }
        element.done(new LoadResult.Unshared<>(found.value()));
    }

    private <K, V> Map<BatchElement<K, V>, Found<V>> find(List<BatchElement<K, V>> elements) {
        Map<BatchElement<K, V>, Found<V>> found = new LinkedHashMap<>();
        try {
            List<BatchElement<K, V>> allowed = new ArrayList<>();
            for (BatchElement<K, V> element : elements) {
                if (expired.mayHave(element.read())) {
                    allowed.add(element);
                }
            }
            List<EntryReply<Optional<Peeked>>> replies =
                    batches.peekExpired(allowed.stream().map(BatchElement::read).toList());
            for (int i = 0; i < replies.size(); i++) {
                Found<V> one = found(allowed.get(i), replies.get(i));
                if (one != null) {
                    found.put(allowed.get(i), one);
                }
            }
        } catch (StoreUnavailableException away) {
            log.debug("Cannot read expired values of {} elements", elements.size(), away);
        }
        return found;
    }

    private <K, V> @Nullable Found<V> found(BatchElement<K, V> element, EntryReply<Optional<Peeked>> reply) {
        return reply.failure() == null
                ? expired.decoded(element.read(), reply.get().orElse(null))
                : null;
    }
}
