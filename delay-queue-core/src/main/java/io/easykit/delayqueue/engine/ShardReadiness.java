package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.store.Subscription;
import io.easykit.delayqueue.store.WakeupListener;
import java.time.Duration;
import java.util.List;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Preparations before the first claim: the shard count of the topic, and a subscription to wakeups. */
final class ShardReadiness {

    private static final Logger log = LoggerFactory.getLogger(ShardReadiness.class);

    private final ShardContext context;
    private final Topics topics;
    private final IntConsumer shardsKept;
    private final WakeupListener listener;
    private @Nullable Subscription subscription;
    private boolean knowsTopic;

    /** @param shardsKept takes the number of shards that the store has kept */
    ShardReadiness(ShardContext context, Topics topics, IntConsumer shardsKept, WakeupListener listener) {
        this.context = context;
        this.topics = topics;
        this.shardsKept = shardsKept;
        this.listener = listener;
    }

    /** Does the missing preparations. Repeat it after a failure. */
    void ensure() {
        if (!knowsTopic) {
            shardsKept.accept(topics.shards(context.shard().topic()).all());
            knowsTopic = true;
        }
        if (subscription == null) {
            subscription = context.store().subscribe(List.of(context.shard()), listener);
        }
    }

    /** As {@link Subscription#sinceProof}. */
    Duration sinceProof() {
        return subscription == null ? Subscription.UNPROVEN : subscription.sinceProof();
    }

    void close() {
        Subscription current = subscription;
        try {
            if (current != null) {
                current.close();
            }
        } catch (RuntimeException | Error e) {
            // Such as a thread that could not be started. The loop ends in any case.
            log.debug("The wakeup subscription of {} did not end cleanly", context.shard(), e);
        }
    }
}
