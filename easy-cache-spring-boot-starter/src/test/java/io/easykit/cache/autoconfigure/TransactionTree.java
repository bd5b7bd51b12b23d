package io.easykit.cache.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.springframework.transaction.annotation.Propagation;

/**
 * The calls of a thread in nested transactions, drawn by chance: the same seed gives the same tree.
 *
 * @param root the outermost call
 */
record TransactionTree(Branch root) {

    /** How many rows a tree works on. */
    static final int ROWS = 3;

    /** How many nodes of the application there are. */
    static final int NODES = 2;

    private static final int DEEPEST = 4;

    /** When a part of the tree runs that is attached to a transaction. */
    enum Phase {
        BEFORE_COMMIT,
        AFTER_COMMIT,
        AFTER_ROLLBACK,
        AFTER_COMPLETION
    }

    /**
     * One call.
     *
     * @param propagation of its transaction; {@code SUPPORTS} also stands for a method without one
     * @param updates whether it is an update of its row, the only calls that write
     */
    record Branch(Propagation propagation, boolean updates, int row, List<Step> steps) {}

    sealed interface Step {}

    /** Raises the row of the update around. */
    record Write() implements Step {}

    /** Reads through the cache on the same thread and node. */
    record Read(int row, boolean strong) implements Step {}

    /** Reads through the cache on another thread. */
    record ReadElsewhere(int node, int row, boolean strong) implements Step {}

    /**
     * Calls.
     *
     * @param caught whether the caller goes on after an exception
     */
    record Call(Branch branch, boolean caught) implements Step {}

    /** Publishes an event, whose transactional listener calls. */
    record Publish(Phase phase, Branch branch) implements Step {}

    /** Registers a synchronization, which calls. */
    record Synchronize(Phase phase, Branch branch) implements Step {}

    record MarkRollbackOnly() implements Step {}

    record Fail() implements Step {}

    static TransactionTree random(Random random) {
        return new TransactionTree(branch(random, 1));
    }

    private static Branch branch(Random random, int depth) {
        Propagation[] all = Propagation.values();
        Propagation propagation = random.nextInt(3) == 0 ? Propagation.REQUIRED : all[random.nextInt(all.length)];
        boolean updates = depth == DEEPEST || random.nextInt(3) > 0;
        List<Step> steps = new ArrayList<>();
        int length = 1 + random.nextInt(5);
        for (int i = 0; i < length; i++) {
            steps.add(step(random, depth));
        }
        if (updates) {
            steps.add(random.nextInt(steps.size() + 1), new Write());
        }
        return new Branch(propagation, updates, random.nextInt(ROWS), List.copyOf(steps));
    }

    private static Step step(Random random, int depth) {
        int chance = random.nextInt(100);
        if (depth < DEEPEST && chance < 55) {
            Branch branch = branch(random, depth + 1);
            Phase phase = Phase.values()[random.nextInt(Phase.values().length)];
            return chance < 30
                    ? new Call(branch, random.nextInt(4) > 0)
                    : chance < 42 ? new Publish(phase, branch) : new Synchronize(phase, branch);
        }
        if (chance < 60) {
            return new Fail();
        }
        if (chance < 64) {
            return new MarkRollbackOnly();
        }
        return chance < 70
                ? new Read(random.nextInt(ROWS), random.nextBoolean())
                : new ReadElsewhere(random.nextInt(NODES), random.nextInt(ROWS), random.nextBoolean());
    }
}
