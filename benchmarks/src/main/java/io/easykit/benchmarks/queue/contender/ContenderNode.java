package io.easykit.benchmarks.queue.contender;

import io.easykit.benchmarks.queue.node.QueueNode;
import java.util.List;

/**
 * A process with one of the contenders of this package. The first argument is its name. The others are those of
 * {@link QueueNode}.
 */
public final class ContenderNode {

    private ContenderNode() {}

    public static void main(String[] arguments) throws Exception {
        List<String> all = List.of(arguments);
        Contender contender = Contender.valueOf(all.get(0));
        QueueNode.run(all.subList(1, all.size()), contender::open);
    }
}
