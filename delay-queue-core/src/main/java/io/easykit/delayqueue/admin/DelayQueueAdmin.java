package io.easykit.delayqueue.admin;

import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.TopicConflictException;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.DueTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Shows the messages of topics, and changes single ones or many of them.
 *
 * <p>Each action names the message that is meant by more than its id: a dead letter by the time of its death, a waiting message
 * by its incarnation. So an action on a page that is out of date cannot hit another message.
 *
 * <p>Errors: {@link StoreUnavailableException} if the store did not answer in time, {@link StoreRefusedException} if it refuses,
 * {@link IllegalArgumentException} for a request with a value that is not possible.
 */
public interface DelayQueueAdmin {

    /** Maximum number of messages of a page, and of an action. */
    int MAX_PAGE = 100;

    /**
     * Counts the messages of a topic.
     *
     * @throws StoreRefusedException if the store refuses all shards
     */
    TopicStats stats(String topic);

    /**
     * Reads one page of messages in the order of time. A cursor continues behind the last message of a page, also if that
     * message is gone: each message that stays in its state is on exactly one page.
     *
     * <p>In a topic of up to {@link #MERGED_SHARDS} shards a page merges all of them; beyond that each page is of one shard,
     * and the pages go from shard to shard. A shard that the store refuses to read, for example because a key has another
     * type, is left out: {@link MessagePage#refused} names it and the remedy.
     *
     * @throws StoreRefusedException if the store refuses all shards
     */
    MessagePage messages(String topic, MessageQuery query);

    /** Maximum number of shards that a page merges. */
    int MERGED_SHARDS = 16;

    /** Finds a live message: waiting, in flight, or dead. Reads at most {@link MessageDetail#MOST_BYTES} of it. */
    Optional<MessageDetail> find(String topic, String id);

    /**
     * Finds live messages with this id in all topics of the registry. A new topic enters the registry with the next heartbeat of a
     * node that uses it.
     */
    List<MessageDetail> find(String id);

    /** Reads the whole body of a message; empty if it is gone, or is another incarnation. */
    Optional<Bytes> body(String topic, MessageRef message);

    /**
     * Groups the dead letters of a topic by their latest errors. Reads at most {@link #MOST_GROUPED} of them, the oldest of
     * each shard first.
     *
     * @throws StoreRefusedException if the store refuses all shards
     */
    ErrorGroups groups(String topic);

    /** Maximum number of dead letters that {@link #groups} reads: about 40 ms of a Redis. */
    int MOST_GROUPED = 10_000;

    /**
     * Redrives one dead letter: it is due at once, with its attempts and lease expirations reset.
     *
     * @param diedAt the death that is meant ({@link MessageInfo#diedAt})
     * @return false if it is not dead, or has died again since
     */
    default boolean redrive(String topic, String id, Instant diedAt) {
        return redrive(topic, List.of(new DeadLetterRef(id, diedAt))).get(0);
    }

    /**
     * Redrives dead letters: they are due at once, with their attempts and lease expirations reset.
     *
     * @param deaths at most {@link #MAX_PAGE}
     * @return for each in order: false if it is not dead, or has died again since
     */
    List<Boolean> redrive(String topic, List<DeadLetterRef> deaths);

    /**
     * Starts a job that redrives all messages that are dead now, at a limited rate for all shards together. Messages that die again
     * meanwhile are not redriven a second time. The job moves the messages step by step, so it can be stopped.
     *
     * @param perSecond from 1; {@link Integer#MAX_VALUE} for no limit
     */
    default Job redriveAll(String topic, int perSecond) {
        return start(JobRequest.redrive(topic).perSecond(perSecond));
    }

    /**
     * Replaces headers and body of a dead letter, and redrives it under the same id: it is due at once, with its attempts and lease
     * expirations reset. Its retry policy stays.
     *
     * @param incarnation of the message that was edited ({@link MessageDetail#incarnation}); null for any
     * @param headers     all headers of the new message
     * @param body        the new body, encoded as the listener expects it
     * @return the outcome and the old message
     */
    Replacement replace(
            String topic, DeadLetterRef death, @Nullable String incarnation, Map<String, String> headers, Bytes body);

    /**
     * Removes one dead letter for good.
     *
     * @param diedAt the death that is meant ({@link MessageInfo#diedAt})
     * @return false if it is not dead, or has died again since
     */
    default boolean purge(String topic, String id, Instant diedAt) {
        return purge(topic, List.of(new DeadLetterRef(id, diedAt))).get(0);
    }

    /**
     * Removes dead letters for good.
     *
     * @param deaths at most {@link #MAX_PAGE}
     * @return for each in order: false if it is not dead, or has died again since
     */
    List<Boolean> purge(String topic, List<DeadLetterRef> deaths);

    /**
     * Removes for good messages that have been dead for at least this long, by the clock of the store and by that of this node, and
     * returns how many. If the store refuses a shard, those of the other shards are removed before the exception.
     *
     * @param age zero for all dead letters
     */
    long purgeOlderThan(String topic, Duration age);

    /**
     * Cancels messages that wait.
     *
     * @param messages at most {@link #MAX_PAGE}
     * @return for each in order
     */
    List<ChangeOutcome> cancel(String topic, List<MessageRef> messages);

    /**
     * Gives messages that wait another due time.
     *
     * @param messages at most {@link #MAX_PAGE}
     * @return for each in order
     */
    List<ChangeOutcome> reschedule(String topic, List<MessageRef> messages, DueTime due);

    /**
     * Ordering keys that are stopped, because one of their messages is a dead letter and its listener has {@code
     * DeadKeyPolicy.STOP}. The first {@link #MOST_STOPPED_KEYS} that are found.
     */
    List<StoppedKey> stoppedKeys(String topic);

    /** Maximum number of keys that {@link #stoppedKeys} returns. */
    int MOST_STOPPED_KEYS = 1000;

    /**
     * Frees an ordering key that is stopped: its next message runs. The dead letter stays, and runs after those that are due
     * then if it is redriven.
     *
     * @param id of the dead letter that holds the key ({@link StoppedKey#id})
     * @return false if this message does not hold the key, or is not dead
     */
    boolean freeKey(String topic, String key, String id);

    /**
     * Adds shards to a topic while it is in use. Messages with generated ids go to all shards two minutes later, when the listeners
     * of all nodes claim from them. Own ids and ordering keys stay in the shards that the topic began with. A repeated call changes
     * nothing. Shards cannot be taken away.
     *
     * @param shards number of shards to have, up to 1024
     * @return how many there were before
     * @throws TopicConflictException if the topic has more shards, was never used, or has a lower {@code max-in-flight}
     */
    int growShards(String topic, int shards);

    /**
     * Starts work on the dead letters of a topic in the background, and returns at once. One node runs the job; if that node
     * ends, another node continues it within about 75 seconds: one with a listener, or one on which jobs are read. Of several jobs
     * that move messages of the same topic, one runs at a time.
     */
    Job start(JobRequest request);

    /** Finds a job. Jobs are kept for a day after their last change. Empty also if only a later version can read it. */
    Optional<Job> job(String id);

    /**
     * Jobs of the last day, the latest change first: the 100 that changed last, and up to 100 others that run. Those that only a
     * later version can read are left out.
     */
    List<Job> jobs();

    /** Stops a job, whatever node runs it. Returns false if it does not run. */
    boolean stopJob(String id);

    /** Continues a job that was stopped, has reached its limit, or has failed. Returns false if it runs or is done. */
    boolean resumeJob(String id);
}
