package io.easykit.console.queue;

import io.easykit.console.AuditStore;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.admin.ActionLog;
import java.util.List;

/** The audit in the Redis of the delay queue. */
public final class QueueAuditStore implements AuditStore {

    private final ActionLog actions;

    public QueueAuditStore(ActionLog actions) {
        this.actions = actions;
    }

    @Override
    public void add(String line, int most) {
        try {
            actions.add(line, most);
        } catch (StoreRefusedException refused) {
            throw new Refused(refused);
        }
    }

    @Override
    public List<String> read(long skip, int count) {
        return actions.read(skip, count);
    }
}
