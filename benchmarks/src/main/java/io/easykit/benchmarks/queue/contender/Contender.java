package io.easykit.benchmarks.queue.contender;

import io.easykit.benchmarks.queue.node.QueueContender;
import io.easykit.benchmarks.queue.node.Setup;
import java.util.function.Function;

/** The contenders that run on this module's class path. */
public enum Contender {
    DELAY_QUEUE(setup -> DelayQueueContender.open(setup, 1, 1)),
    DELAY_QUEUE_BATCHES(setup -> DelayQueueContender.open(setup, 1, DelayQueueContender.BATCH)),
    DELAY_QUEUE_SHARDS(setup -> DelayQueueContender.open(setup, DelayQueueContender.SHARDS, 1)),
    REDISSON(RedissonContender::defaults),
    REDISSON_TUNED(RedissonContender::tuned),
    LETTUCE(setup -> LettuceContender.open(setup, setup.concurrency())),
    LETTUCE_BATCHES(setup -> LettuceContender.open(setup, DelayQueueContender.BATCH));

    @SuppressWarnings("ImmutableEnumChecker") // a method reference, or a lambda that captures nothing
    private final Function<Setup, QueueContender> opener;

    Contender(Function<Setup, QueueContender> opener) {
        this.opener = opener;
    }

    QueueContender open(Setup setup) {
        return opener.apply(setup);
    }
}
