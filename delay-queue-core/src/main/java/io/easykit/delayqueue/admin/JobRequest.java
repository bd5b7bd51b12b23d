package io.easykit.delayqueue.admin;

import io.easykit.delayqueue.support.DurationText;
import io.easykit.delayqueue.support.NameRules;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Request of a job: work on the dead letters of a topic in the background, see {@link DelayQueueAdmin#start}. Immutable; each
 * method returns a changed copy.
 */
public final class JobRequest {

    /** Messages that a {@link #redrive} sends back a second, unless it gets another rate. */
    public static final int REDRIVES_PER_SECOND = 50;

    /** Longest text to search for, in characters. */
    public static final int MAX_TEXT = 200;

    private final String topic;
    private final Action action;
    private final Filter filter;
    private final int perSecond;
    private final int stopAt;
    private final Origin origin;

    /** Who has started it, and why. */
    private record Origin(String by, String note) {

        static final Origin UNKNOWN = new Origin("", "");
    }

    private JobRequest(String topic, Action action, Filter filter, int perSecond, int stopAt, Origin origin) {
        this.topic = NameRules.requireTopic(topic);
        this.action = action;
        this.filter = filter;
        this.perSecond = perSecond;
        this.stopAt = stopAt;
        this.origin = origin;
    }

    /** The action of a job. */
    public enum Action {
        /** Redrives dead letters. */
        REDRIVE,
        /** Removes dead letters for good. */
        PURGE,
        /** Counts dead letters by the groups of their errors. */
        GROUP,
        /** Finds dead letters, at most {@link Job#MOST_MATCHES}. */
        SEARCH;

        /** Whether it moves messages, and does not only read them. */
        public boolean moves() {
            return this == REDRIVE || this == PURGE;
        }
    }

    /**
     * Selects dead letters. Those that die after the start of the job are never selected.
     *
     * @param group     {@link ErrorGroup#key} of their latest error, or null for any
     * @param olderThan time since their death at least, at the start of the job, up to 3650 days; zero for any
     * @param text      part of their id, header values, or the beginning of the error or the body, without regard to case; null
     *                  for any: see {@link #containing}
     * @param diedUntil latest time of death, or null for the start of the job; a time before 1970 is 1970, and one that is too late
     *                  for Redis is the latest possible one
     */
    public record Filter(
            @Nullable String group, Duration olderThan, @Nullable String text, @Nullable Instant diedUntil) {

        private static final Duration OLDEST = Duration.ofDays(3650);

        public static final Filter ALL = new Filter(null, Duration.ZERO, null, null);

        public Filter {
            if (diedUntil != null) {
                diedUntil = diedUntil.isBefore(Instant.EPOCH) ? Instant.EPOCH : diedUntil;
                diedUntil = diedUntil.isAfter(DeadLetterRef.LATEST) ? DeadLetterRef.LATEST : diedUntil;
            }
            if (group != null && !group.matches("[0-9a-f]{16}")) {
                throw new IllegalArgumentException("A group is named by its key of 16 hexadecimal digits.");
            }
            if (olderThan.isNegative() || olderThan.compareTo(OLDEST) > 0) {
                throw new IllegalArgumentException("An age of " + DurationText.of(olderThan)
                        + " is not possible: give zero to " + OLDEST.toDays() + " days.");
            }
            if (text != null && (text.isBlank() || text.length() > MAX_TEXT)) {
                throw new IllegalArgumentException(
                        "A text to search for has 1 to " + MAX_TEXT + " characters, and is not blank.");
            }
        }
    }

    private static JobRequest of(String topic, Action action) {
        Objects.requireNonNull(topic, "A topic that is null: give the topic that the listener names.");
        return new JobRequest(topic, action, Filter.ALL, Integer.MAX_VALUE, Integer.MAX_VALUE, Origin.UNKNOWN);
    }

    /** Redrives all dead letters of the topic, {@value #REDRIVES_PER_SECOND} a second unless another rate is given. */
    public static JobRequest redrive(String topic) {
        return of(topic, Action.REDRIVE).perSecond(REDRIVES_PER_SECOND);
    }

    /** Removes all dead letters of the topic, without a limit of the rate unless one is given. */
    public static JobRequest purge(String topic) {
        return of(topic, Action.PURGE);
    }

    /** Groups all dead letters of the topic by their errors. */
    public static JobRequest group(String topic) {
        return of(topic, Action.GROUP);
    }

    /** Finds dead letters of the topic that contain a text. */
    public static JobRequest search(String topic, String text) {
        return of(topic, Action.SEARCH).containing(text);
    }

    /** Selects dead letters. */
    public JobRequest filter(Filter selected) {
        return new JobRequest(topic, action, selected, perSecond, stopAt, origin);
    }

    /** Selects dead letters of one group: {@link ErrorGroup#key}. */
    public JobRequest inGroup(String key) {
        return filter(new Filter(key, filter.olderThan, filter.text, filter.diedUntil));
    }

    /** Selects messages that have been dead for at least this long, up to 3650 days. */
    public JobRequest olderThan(Duration age) {
        return filter(new Filter(filter.group, age, filter.text, filter.diedUntil));
    }

    /**
     * Selects dead letters with this text in the id, in the first 8 KB of the stored message (header values, then the body), or
     * in the error. Of an error of more than 800 bytes the first line, the deepest cause and the first frames are read.
     */
    public JobRequest containing(String text) {
        return filter(new Filter(filter.group, filter.olderThan, text, filter.diedUntil));
    }

    /** Selects messages that died until then. */
    public JobRequest diedUntil(Instant time) {
        return filter(new Filter(filter.group, filter.olderThan, filter.text, time));
    }

    /** Moves so many messages a second; {@link Integer#MAX_VALUE} for no limit. */
    public JobRequest perSecond(int rate) {
        if (rate < 1) {
            throw new IllegalArgumentException("A rate of " + rate + " a second: give at least 1.");
        }
        return new JobRequest(topic, action, filter, rate, stopAt, origin);
    }

    /** Moves messages without a limit of the rate: for a redrive only if the listener can bear all messages at once. */
    public JobRequest withoutLimit() {
        return perSecond(Integer.MAX_VALUE);
    }

    /** Ends by itself when so many messages of the topic have died since the start. */
    public JobRequest stopAt(int deaths) {
        if (deaths < 1) {
            throw new IllegalArgumentException("A job that stops at " + deaths + " deaths: give at least 1.");
        }
        return new JobRequest(topic, action, filter, perSecond, deaths, origin);
    }

    /** Who started it and why, for display; each at most 200 characters. */
    public JobRequest by(String person, String reason) {
        return new JobRequest(topic, action, filter, perSecond, stopAt, new Origin(cut(person), cut(reason)));
    }

    private static String cut(String text) {
        return text.substring(0, Math.min(text.length(), MAX_TEXT));
    }

    public String topic() {
        return topic;
    }

    public Action action() {
        return action;
    }

    public Filter filter() {
        return filter;
    }

    public int perSecond() {
        return perSecond;
    }

    public int stopAt() {
        return stopAt;
    }

    public String by() {
        return origin.by;
    }

    public String note() {
        return origin.note;
    }

    @Override
    public String toString() {
        return "JobRequest[topic=" + topic + ", action=" + action + ", perSecond=" + perSecond + ", stopAt=" + stopAt
                + "]";
    }
}
