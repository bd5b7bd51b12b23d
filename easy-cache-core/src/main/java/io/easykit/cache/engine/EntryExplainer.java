package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.Outcome;
import io.easykit.cache.admin.EntryExplanation;
import io.easykit.cache.admin.EntryExplanation.Field;
import io.easykit.cache.admin.EntryExplanation.State;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.StoredEntry;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Explains an entry: repeats the decision of {@code fetch.lua} on the stored fields, and gives the reasons in sentences. A test
 * holds every combination of fields against the script.
 */
final class EntryExplainer {

    /** No load lease lasts longer than this, or than that of the cache: another one is garbage. */
    private static final Duration LONGEST_LEASE = Duration.ofDays(1);

    private final CacheKey<?> key;
    private final CacheOptions options;
    private final StoredEntry entry;
    private final long epoch;
    private final StoredEntry.@Nullable Value own;

    /** Null if no loader may store a value; without an end that no loader writes. */
    private final StoredEntry.@Nullable LeasedToken leasedToken;

    private final List<String> sentences = new ArrayList<>();

    private EntryExplainer(CacheKey<?> key, StoredEntry entry, long epoch) {
        this.key = key;
        this.options = key.spec().options();
        this.entry = entry;
        this.epoch = epoch;
        this.own = ownValue();
        this.leasedToken = entry.leasedToken() == null ? null : readable(entry.leasedToken());
    }

    /** @param epoch the prefix's epoch as this node knows it */
    static EntryExplanation explain(CacheKey<?> key, StoredEntry entry, long epoch) {
        return new EntryExplainer(key, entry, epoch).explain();
    }

    private EntryExplanation explain() {
        if (entry.ofOtherType()) {
            say("The key holds something that is no entry. The next reader removes it and loads the value.");
            return result(State.NO_ENTRY, Outcome.NEED_QUERY);
        }
        StoredEntry.Value value = own != null && isReadable(own) ? own : null;
        if (value != null && entry.staleUntil() == null && isAhead(value.expires())) {
            return fresh(value);
        }
        boolean stale = value != null && options.allowsStale() && isAhead(value.expires()) && isInWindow();
        if (isAhead(entry.updatesUntil())) {
            return updating(stale);
        }
        if (isLoading()) {
            return loading(stale);
        }
        if (stale) {
            say("The value was invalidated. Readers get it for " + until(entry.staleUntil())
                    + " more at most, and the next one loads a new one.");
            return result(State.STALE, Outcome.SUCCESS_NEED_QUERY);
        }
        State state = missing();
        say("The next reader loads the value.");
        sayIfExpired();
        return result(state, Outcome.NEED_QUERY);
    }

    /** While an update is prepared, the window ends with its lease. */
    private boolean isInWindow() {
        Instant until = entry.staleUntil();
        return isAhead(until)
                && (isAhead(entry.updatesUntil()) || left(until).compareTo(options.effectiveStaleWindow()) <= 0);
    }

    private EntryExplanation fresh(StoredEntry.Value value) {
        Duration left = left(value.expires());
        say("Readers get the value. It was stored " + age(value, left) + " ago, and is valid for " + text(left)
                + " more.");
        sayIfUpdating();
        if (left.compareTo(
                        isNothing(value)
                                ? options.effectiveNullRefreshAhead()
                                : ValueTtls.refreshAhead(value.ttl(), options))
                > 0) {
            return result(State.FRESH, Outcome.SUCCESS);
        }
        if (isLoading()) {
            say("It is about to end, and a reader is loading a new one.");
            return result(State.REFRESHING, Outcome.SUCCESS);
        }
        say("It is about to end: the next reader loads a new one.");
        return result(State.REFRESH_DUE, Outcome.SUCCESS_NEED_QUERY);
    }

    /** With a valid value that was not marked: another version of the application, or another program, wrote the entry. */
    private void sayIfUpdating() {
        if (isAhead(entry.updatesUntil())) {
            say("An update is prepared for " + until(entry.updatesUntil()) + " more at most.");
        }
    }

    private EntryExplanation updating(boolean stale) {
        say(
                "An update is being committed: nothing that is loaded now is stored. If it does not end, because its node died,"
                        + " this lasts for " + until(entry.updatesUntil()) + " more.");
        if (stale) {
            say("Until then readers get the old value, for " + until(entry.staleUntil()) + " more at most.");
            return result(State.UPDATING, Outcome.SUCCESS);
        }
        say("Until then each reader loads for itself.");
        return result(State.UPDATING, Outcome.NEED_QUERY_NO_STORE);
    }

    private EntryExplanation loading(boolean stale) {
        if (stale) {
            say("The value was invalidated, and a reader is loading a new one. Until then readers get the old one, for "
                    + until(entry.staleUntil()) + " more at most.");
            return result(State.STALE, Outcome.SUCCESS);
        }
        say("A reader is loading the value, and the others wait for it. Its lease lasts for "
                + until(leasedToken == null ? null : leasedToken.leaseEnds())
                + " more; after that another reader may load it as well.");
        sayIfExpired();
        return result(State.LOADING, Outcome.NEED_WAIT);
    }

    /** What a reader gets whose load fails. */
    private void sayIfExpired() {
        boolean invalidated = entry.staleUntil() != null
                || entry.updatesUntil() != null
                || !entry.updates().isEmpty();
        Instant expired = own == null || invalidated || !isReadable(own) ? null : own.expires();
        if (expired != null && !isAhead(expired) && isAhead(expired.plus(options.keptPastEnd()))) {
            say("If its load fails, it gets the expired value, for " + until(expired.plus(options.keptPastEnd()))
                    + " more at most.");
        }
    }

    private State missing() {
        if (!entry.exists()) {
            say("There is no entry.");
            return State.ABSENT;
        }
        if (leasedToken != null) {
            boolean released = isReleased(leasedToken);
            say(
                    released
                            ? "The latest loader has released its lease and stored nothing: its load failed, its value is not"
                                    + " to be cached, or it did not load. An earlier load that still runs can be stored."
                            : "The lease of the latest loader is over. What it loads can still be stored.");
            return released ? State.LOAD_RELEASED : State.LOAD_LATE;
        }
        if (entry.updatesUntil() != null || !entry.updates().isEmpty()) {
            say(
                    "An update was prepared, and nobody reported its end before its lease was over. Its node may have died.");
            return State.UPDATE_LOST;
        }
        return withoutLocks();
    }

    private State withoutLocks() {
        if (own == null || own.isDamaged()) {
            say(
                    own == null
                            ? "There is no value for this version of the application."
                            : "The value is damaged: it has " + own.bytes() + " bytes.");
            return State.UNREADABLE;
        }
        if (own.epoch() < epoch) {
            say("The value was loaded before the cache '" + key.spec().prefix() + "' was cleared.");
            return State.CLEARED;
        }
        if (!isAhead(own.expires())) {
            say("The value's life is over.");
            return State.EXPIRED;
        }
        say("The value was invalidated, and is not returned any more.");
        return State.INVALIDATED;
    }

    /** How long ago a value was stored. Its life is a little shorter by chance, so this is a range. */
    private String age(StoredEntry.Value value, Duration left) {
        if (value.ttl() != null) {
            return text(atLeastZero(value.ttl().minus(left)));
        }
        Duration longest = isNothing(value) ? options.nullTtl() : options.ttl();
        Duration most = atLeastZero(longest.minus(left));
        Duration least = atLeastZero(Duration.ofMillis((long) (longest.toMillis() * (1 - options.ttlJitter())))
                .minus(left));
        return least.equals(most) ? text(most) : text(least) + " to " + text(most);
    }

    private static boolean isNothing(StoredEntry.Value value) {
        return value.kind() != null && value.kind() != Envelope.Kind.VALUE;
    }

    private EntryExplanation result(State state, Outcome nextRead) {
        return new EntryExplanation(key.name(), entry.now(), state, nextRead, sentences, fields());
    }

    private List<Field> fields() {
        List<Field> fields = new ArrayList<>();
        if (entry.exists()) {
            Duration life = entry.timeToLive();
            fields.add(new Field("key", life == null ? "has no end of life" : "ends in " + text(life)));
        }
        entry.values().forEach(value -> fields.add(new Field("v" + value.fingerprint(), meaning(value))));
        if (leasedToken != null) {
            fields.add(new Field(
                    "f",
                    "fencing token " + leasedToken.token() + ", lease "
                            + (isReleased(leasedToken) ? "released" : moment(leasedToken.leaseEnds()))));
        }
        if (entry.staleUntil() != null) {
            fields.add(new Field("s", "stale window " + moment(entry.staleUntil())));
        }
        if (entry.keptUntil() != null) {
            fields.add(new Field(
                    "x", "expired values are kept for a reader whose load fails, " + moment(entry.keptUntil())));
        }
        if (entry.updatesUntil() != null) {
            fields.add(new Field("i", "latest update's lease " + moment(entry.updatesUntil())));
        }
        entry.updates()
                .forEach(update ->
                        fields.add(new Field("i:" + update.token(), "update's lease " + moment(update.leaseEnds()))));
        return fields;
    }

    private String meaning(StoredEntry.Value value) {
        if (value.isDamaged()) {
            return value.bytes() + " bytes, damaged";
        }
        String version =
                value.fingerprint().equals(key.spec().fingerprint()) ? "" : ", of another version of the application";
        String own = value.ttl() == null ? "" : ", TTL of its own " + text(value.ttl());
        return value.bytes() + " bytes, epoch " + value.epoch() + ", life " + moment(value.expires()) + own + version;
    }

    private StoredEntry.@Nullable Value ownValue() {
        return entry.values().stream()
                .filter(value -> value.fingerprint().equals(key.spec().fingerprint()))
                .findFirst()
                .orElse(null);
    }

    private boolean isReadable(StoredEntry.Value value) {
        return !value.isDamaged() && value.epoch() >= epoch;
    }

    private boolean isLoading() {
        return leasedToken != null && isAhead(leasedToken.leaseEnds());
    }

    /** A lease with an end that no loader writes counts as over. */
    private StoredEntry.LeasedToken readable(StoredEntry.LeasedToken stored) {
        Duration longest = options.loadLease().compareTo(LONGEST_LEASE) > 0 ? options.loadLease() : LONGEST_LEASE;
        return stored.leaseEnds().isAfter(entry.now().plus(longest))
                ? new StoredEntry.LeasedToken(stored.token(), entry.now())
                : stored;
    }

    private static boolean isReleased(StoredEntry.LeasedToken leased) {
        return leased.leaseEnds().equals(Instant.EPOCH);
    }

    private boolean isAhead(@Nullable Instant time) {
        return time != null && entry.now().isBefore(time);
    }

    private String until(@Nullable Instant time) {
        return text(left(time));
    }

    private Duration left(@Nullable Instant time) {
        return time == null ? Duration.ZERO : Duration.between(entry.now(), time);
    }

    private String moment(@Nullable Instant time) {
        Duration left = left(time);
        return left.isNegative() || left.isZero() ? "over for " + text(left.negated()) : "ends in " + text(left);
    }

    private static Duration atLeastZero(Duration duration) {
        return duration.isNegative() ? Duration.ZERO : duration;
    }

    private void say(String sentence) {
        sentences.add(sentence);
    }

    /** Two units at most: the milliseconds of an hour do not matter. */
    static String text(Duration duration) {
        if (duration.compareTo(Duration.ofSeconds(10)) < 0) {
            return duration.toMillis() + " ms";
        }
        if (duration.compareTo(Duration.ofMinutes(10)) < 0) {
            return duration.toSeconds() + " s";
        }
        if (duration.compareTo(Duration.ofHours(2)) < 0) {
            return duration.toMinutes() + " min";
        }
        if (duration.compareTo(Duration.ofDays(2)) < 0) {
            return duration.toHours() + " h " + duration.toMinutesPart() + " min";
        }
        return duration.toDays() + " d " + duration.toHoursPart() + " h";
    }
}
