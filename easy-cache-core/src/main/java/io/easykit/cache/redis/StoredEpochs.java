package io.easykit.cache.redis;

import static io.easykit.cache.redis.EntryFields.bytes;
import static io.easykit.cache.redis.EntryFields.text;

import io.easykit.cache.store.PrefixEpochs;
import io.easykit.cache.store.StoreUnavailableException;
import io.easykit.redis.ListReply;
import io.lettuce.core.cluster.SlotHash;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The epochs of the prefixes: in one hash or, in a cluster, in those of the ranges of slots ({@link SlotTags}). */
final class StoredEpochs {

    private static final Pattern NUMBER = Pattern.compile("\\d{1,10}");

    /** Field of a clearing that was prepared. A prefix does not begin with a colon. */
    private static final Pattern CLEARING = Pattern.compile("::[^:]*:(.+)", Pattern.DOTALL);

    /** The field of the mark. It is no prefix either. */
    private static final String MARK = "::mark";

    private static final Pattern MARK_NUMBER = Pattern.compile("\\d{1,16}");

    /** An epoch has four bytes of a value. The highest number is no epoch. */
    private static final long NO_EPOCH = 0xFFFF_FFFFL;

    /** The reply of raise-epoch has no values before its groups. */
    private enum RaiseEpochReply {}

    /** A group of the reply of raise-epoch. */
    private enum RaisedEpoch {
        EPOCH
    }

    private final EntryCalls calls;
    private final RedisKeys names;
    private final boolean clustered;

    StoredEpochs(EntryCalls calls, RedisKeys names, boolean clustered) {
        this.calls = calls;
        this.names = names;
        this.clustered = clustered;
    }

    int hashes() {
        return clustered ? SlotTags.EPOCH_HASHES : 1;
    }

    int copies() {
        return clustered ? SlotTags.COPIES : 1;
    }

    /** The first of the hashes with the epoch of an entry. */
    int hashOf(byte[] entry) {
        return clustered ? SlotTags.epochHashOf(SlotHash.getSlot(entry)) : 0;
    }

    private byte[] name(int hash) {
        return clustered ? names.epochs(SlotTags.ofEpochs(hash)) : names.epochs();
    }

    /** The epochs of one hash, by prefix, and the prefixes with a clearing. */
    PrefixEpochs read(int hash) {
        Map<String, Long> epochs = new HashMap<>();
        Set<String> clearing = new HashSet<>();
        long mark = 0;
        for (Map.Entry<byte[], byte[]> one :
                calls.await(calls.readAll(name(hash))).entrySet()) {
            String field = text(one.getKey());
            String value = text(one.getValue());
            Matcher clear = CLEARING.matcher(field);
            if (clear.matches()) {
                clearing.add(clear.group(1));
            } else if (field.equals(MARK)) {
                mark = MARK_NUMBER.matcher(value).matches() ? Long.parseLong(value) : 0;
            } else if (NUMBER.matcher(value).matches() && Long.parseLong(value) < NO_EPOCH) {
                epochs.put(field, Long.parseLong(value));
            }
        }
        return new PrefixEpochs(epochs, clearing, mark);
    }

    /** See {@link io.easykit.cache.store.EntryStore#advanceMark}. */
    long advanceMark(int hash) {
        try {
            Object mark = calls.await(calls.run(CacheScript.ADVANCE_MARK, name(hash), List.of()));
            return mark instanceof Long number ? number : 0;
        } catch (StoreUnavailableException failure) {
            if (CacheFailures.isFull(failure)) {
                return 0; // it stands until the server has room
            }
            throw failure;
        }
    }

    /** Prepares the clearing of these prefixes. */
    void prepareClear(int hash, Collection<String> prefixes, String token, Duration lease) {
        List<byte[]> arguments = new ArrayList<>();
        for (String prefix : prefixes) {
            arguments.add(bytes(prefix));
            arguments.add(bytes(token));
            arguments.add(bytes(lease.toMillis()));
        }
        calls.await(calls.run(CacheScript.PREPARE_CLEAR, name(hash), arguments));
    }

    /** Ends the clearings of these prefixes whose lease is over, and returns whether there were any. */
    boolean endExpiredClears(int hash, Map<String, Long> known) {
        List<byte[]> arguments = new ArrayList<>();
        known.forEach((prefix, epoch) -> {
            arguments.add(bytes(prefix));
            arguments.add(bytes(epoch));
        });
        Object ended = calls.await(calls.run(CacheScript.END_EXPIRED_CLEARS, name(hash), arguments));
        return !Long.valueOf(0).equals(ended);
    }

    /** Raises the epochs of these prefixes above the known ones, and returns the new ones. */
    Map<String, Long> raise(int hash, Map<String, Long> known, String token) {
        List<String> prefixes = List.copyOf(known.keySet());
        List<byte[]> arguments = new ArrayList<>();
        for (String prefix : prefixes) {
            arguments.add(bytes(prefix));
            arguments.add(bytes(known.getOrDefault(prefix, 0L)));
            arguments.add(bytes(token));
        }
        Object reply = calls.await(calls.run(CacheScript.RAISE_EPOCH, name(hash), arguments));
        List<ListReply> epochs = ListReply.of(CacheScript.RAISE_EPOCH.file(), reply, RaiseEpochReply.class)
                .groups(RaisedEpoch.class);
        Map<String, Long> raised = new HashMap<>();
        for (int i = 0; i < prefixes.size(); i++) {
            raised.put(prefixes.get(i), epochs.get(i).number(RaisedEpoch.EPOCH));
        }
        return raised;
    }
}
