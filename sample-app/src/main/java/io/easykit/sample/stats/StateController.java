package io.easykit.sample.stats;

import io.easykit.cache.Availability;
import io.easykit.cache.EasyCache;
import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.TopicStats;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** The state of both products, for the page. */
@RestController
class StateController {

    private static final String TOPIC = "order-close";

    private final EasyCache cache;
    private final DelayQueueAdmin queue;
    private final DatabaseReads reads;

    StateController(EasyCache cache, DelayQueueAdmin queue, DatabaseReads reads) {
        this.cache = cache;
        this.queue = queue;
        this.reads = reads;
    }

    @GetMapping("/state")
    State state() {
        return new State(Instant.now(), cache(), queue(), reads.stats());
    }

    private Cache cache() {
        String cluster = cache.clusterIds().iterator().next();
        Availability availability = Objects.requireNonNull(cache.availability(cluster));
        return new Cache(availability.state().name(), cache.undelivered(cluster));
    }

    /** Null while Redis does not answer. */
    private @Nullable Queue queue() {
        try {
            TopicStats stats = queue.stats(TOPIC);
            return new Queue(stats.waiting(), stats.due(), stats.inFlight(), stats.dead());
        } catch (DelayQueueException away) {
            return null;
        }
    }

    record State(Instant now, Cache cache, @Nullable Queue queue, DatabaseReads.Stats reads) {}

    record Cache(String state, int undelivered) {}

    record Queue(long waiting, long due, long inFlight, long dead) {}
}
