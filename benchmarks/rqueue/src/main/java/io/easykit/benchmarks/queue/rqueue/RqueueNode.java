package io.easykit.benchmarks.queue.rqueue;

import io.easykit.benchmarks.queue.node.QueueNode;
import java.util.List;

/**
 * A process with rqueue. The first argument is whether to use {@code TUNED}. The others are those of {@link QueueNode}.
 */
public final class RqueueNode {

    private RqueueNode() {}

    public static void main(String[] arguments) throws Exception {
        List<String> all = List.of(arguments);
        boolean tuned = all.get(0).equals("TUNED");
        QueueNode.run(all.subList(1, all.size()), setup -> RqueueContender.open(setup, tuned));
    }
}
