package io.easykit.delayqueue.store;

/** Everything that an engine needs of one store. */
public interface QueueBackend extends QueueStore, QueueInspector, TopicStore {}
