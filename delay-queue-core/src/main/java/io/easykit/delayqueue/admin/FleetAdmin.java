package io.easykit.delayqueue.admin;

import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import java.time.Duration;
import java.util.List;

/**
 * Shows topics and nodes, and pauses topics and listeners. Any node can call it, whether it has listeners or not.
 *
 * <p>All methods but {@link #thisNode} call the store. They throw {@link StoreUnavailableException} if it does not answer, and {@link
 * StoreRefusedException} if it refuses.
 */
public interface FleetAdmin {

    /** The topics that were ever sent to or listened to, in alphabetical order. A new one appears within a heartbeat. */
    List<String> topics();

    /**
     * Checks that a topic was ever sent to or listened to, or has a shard count in the settings of this node. Does nothing
     * while the queue is disabled.
     *
     * @throws UnknownTopicException if not. It names the known topics
     */
    void requireUsed(String topic);

    /** The name of this node: its {@link NodeInfo#id} and its {@link Job#node}, whether it reports itself or not. */
    String thisNode();

    /** The nodes that are there, in the order in which they came. One that died stays for three heartbeats. */
    List<NodeInfo> nodes();

    /**
     * All topics at one time, for any number of viewers. A node takes a snapshot at most every two seconds; after a slow one it
     * waits for 200 times its duration, at most half a minute. Beyond 50 shards one node takes it for all nodes.
     */
    FleetSnapshot snapshot();

    /**
     * The recent past of a topic, one point a minute.
     *
     * @param range how far back, from a minute to 24 hours
     */
    TopicSeries series(String topic, Duration range);

    /**
     * Stops the delivery of a topic on all nodes, until it is resumed. Messages in flight go on, and sends are stored.
     *
     * @param by who pauses, as others see it
     * @return number of shards that were not paused before
     */
    int pause(String topic, String by);

    /**
     * Resumes the delivery of a topic on all nodes. Listeners that are paused on their node stay so.
     *
     * @return number of shards that were paused before
     */
    int resume(String topic);

    /**
     * Pauses one listener on one node. The node does it with its next heartbeat, and forgets it when it restarts. A request for a
     * listener that the node does not run waits for its start, for up to an hour. A wrong name has no effect: compare it with
     * {@link NodeInfo#listeners} first.
     *
     * @param node     {@link NodeInfo#id}
     * @param listener {@link NodeInfo.Listener#id}
     * @param by       who pauses, as others see it
     * @return false if there is no such node, and it has left no earlier request for this listener
     */
    boolean pauseListener(String node, String listener, String by);

    /**
     * Resumes one listener on one node, whoever paused it there. A topic that is paused stays so.
     *
     * @param by who resumes, as the log of the node shows it
     * @return false if there is no such node, and it has left no earlier request for this listener
     */
    boolean resumeListener(String node, String listener, String by);
}
