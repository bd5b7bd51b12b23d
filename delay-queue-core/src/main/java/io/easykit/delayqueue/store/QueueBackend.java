package io.easykit.delayqueue.store;

import io.easykit.delayqueue.admin.ActionLog;

/** One store, with all operations that an engine needs. */
public interface QueueBackend extends QueueStore, QueueInspector, DeadLetterStore, TopicStore {

    /** The registry of topics and nodes; empty unless the store keeps one. */
    default FleetStore fleet() {
        return FleetStore.NONE;
    }

    /** The jobs of the administration. */
    JobStore jobs();

    /** Actions of operators; empty unless the store keeps them. */
    default ActionLog actions() {
        return ActionLog.NONE;
    }
}
