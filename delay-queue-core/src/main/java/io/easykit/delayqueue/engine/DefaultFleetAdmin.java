package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.admin.FleetAdmin;
import io.easykit.delayqueue.admin.NodeInfo;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.ShardKey;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

/** Works shard after shard. A shard that the store refuses does not keep the others from their pause. */
final class DefaultFleetAdmin implements FleetAdmin {

    private static final int MOST_CHARACTERS = 200;

    private final QueueBackend store;
    private final Topics topics;

    DefaultFleetAdmin(QueueBackend store, Topics topics) {
        this.store = store;
        this.topics = topics;
    }

    @Override
    public List<String> topics() {
        return List.copyOf(store.fleet().topics().keySet());
    }

    @Override
    public List<NodeInfo> nodes() {
        return store.fleet().nodes();
    }

    @Override
    public int pause(String topic, String by) {
        String name = requireName(by);
        return changed(topic, shard -> store.pause(shard, name));
    }

    @Override
    public int resume(String topic) {
        return changed(topic, store::resume);
    }

    private int changed(String topic, Predicate<ShardKey> change) {
        AtomicInteger changed = new AtomicInteger();
        EachShard each = new EachShard();
        for (ShardKey key : topics.keysToLookAt(topic)) {
            each.attempt(key, shard -> changed.addAndGet(change.test(shard) ? 1 : 0));
        }
        each.throwIfRefused();
        return changed.get();
    }

    @Override
    public boolean pauseListener(String node, String listener, String by) {
        return store.fleet().wish(node, listener, true, requireName(by));
    }

    @Override
    public boolean resumeListener(String node, String listener, String by) {
        return store.fleet().wish(node, listener, false, requireName(by));
    }

    private static String requireName(String by) {
        Objects.requireNonNull(by, "A pause by nobody: give the name of the operator, or an empty text.");
        if (by.length() > MOST_CHARACTERS) {
            throw new IllegalArgumentException("The name of the operator has " + by.length()
                    + " characters: give at most " + MOST_CHARACTERS + ".");
        }
        return by;
    }
}
