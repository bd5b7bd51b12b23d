package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.store.Subscription;
import io.easykit.delayqueue.store.WakeupListener;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Preparations before the first claim: the shard count of the topic, and a subscription to wakeups. */
final class ShardReadiness {

    private static final Logger log = LoggerFactory.getLogger(ShardReadiness.class);

    /** Between two attempts to subscribe. A shard without a subscription polls about every second. */
    private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(500);

    private final ShardContext context;
    private final Topics topics;
    private final IntConsumer shardsKept;
    private final WakeupListener listener;
    private @Nullable Subscription subscription;
    private boolean knowsTopic;
    private boolean isSubscriptionMissed;
    private long subscribeAt;

    /** @param shardsKept takes the number of shards that the store has kept */
    ShardReadiness(ShardContext context, Topics topics, IntConsumer shardsKept, WakeupListener listener) {
        this.context = context;
        this.topics = topics;
        this.shardsKept = shardsKept;
        this.listener = listener;
        this.subscribeAt = context.nanos();
    }

    /** Does the missing preparations. Repeat it, also after a failure. */
    void ensure() {
        if (!knowsTopic) {
            int kept = topics.shards(context.shard().topic()).all();
            // First: if others get no thread, this shard is served all the same. The monitor reads the count again.
            knowsTopic = true;
            shardsKept.accept(kept);
        }
        if (subscription == null && context.nanos() - subscribeAt >= 0) {
            subscribe();
        }
    }

    /** Without a subscription, polls find the messages. */
    private void subscribe() {
        try {
            subscription = context.store().subscribe(List.of(context.shard()), listener);
            isSubscriptionMissed = false;
        } catch (RuntimeException | Error e) {
            // Such as a thread that could not be started.
            subscribeAt = context.nanos() + PAUSE;
            if (!isSubscriptionMissed) {
                isSubscriptionMissed = true;
                log.warn(
                        "Messages of {} that are due earlier than those before them may be a second late, because the"
                                + " subscription to its wakeups failed. It is tried again: {}",
                        context.shard(),
                        ErrorText.lineOf(e));
            }
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
