package io.easykit.cache.redis;

import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.StoredEntry;
import io.easykit.redis.ListReply;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads the reply of {@code explain.lua}; {@link EntryFields} describes the fields. */
final class ExplainedFields {

    private static final long NO_KEY = -2;
    private static final long OTHER_TYPE = -3;

    private final List<StoredEntry.Value> values = new ArrayList<>();
    private final List<StoredEntry.Update> updates = new ArrayList<>();
    private StoredEntry.@Nullable LeasedToken leasedToken;
    private @Nullable Instant staleUntil;
    private @Nullable Instant updatesUntil;
    private @Nullable Instant keptUntil;

    private ExplainedFields() {}

    /** Names of the values of the reply, before its fields. */
    enum ExplainReply {
        NOW,
        TIME_TO_LIVE
    }

    enum EntryField {
        NAME,
        START,
        NUMBER
    }

    static StoredEntry read(@Nullable Object list) {
        ListReply reply = ListReply.of(CacheScript.EXPLAIN.file(), list, ExplainReply.class);
        long timeToLive = reply.number(ExplainReply.TIME_TO_LIVE);
        ExplainedFields fields = new ExplainedFields();
        for (ListReply field : reply.groups(EntryField.class)) {
            fields.add(field.text(EntryField.NAME), field.bytes(EntryField.START), field.number(EntryField.NUMBER));
        }
        return new StoredEntry(
                reply.instant(ExplainReply.NOW),
                timeToLive != NO_KEY,
                timeToLive == OTHER_TYPE,
                timeToLive < 0 ? null : Duration.ofMillis(timeToLive),
                fields.values,
                fields.leasedToken,
                fields.staleUntil,
                fields.updatesUntil,
                fields.updates,
                fields.keptUntil);
    }

    private void add(String name, byte[] start, long number) {
        if (name.startsWith("v")) {
            values.add(value(name.substring(1), start, (int) number));
        } else if (name.equals("f")) {
            leasedToken = number == EntryFields.LOAD_LEASE_LENGTH ? leasedToken(start) : null;
        } else if (name.equals("s")) {
            staleUntil = Instant.ofEpochMilli(number);
        } else if (name.equals("i")) {
            updatesUntil = Instant.ofEpochMilli(number);
        } else if (name.equals("x")) {
            keptUntil = Instant.ofEpochMilli(number);
        } else if (name.startsWith("i:")) {
            updates.add(new StoredEntry.Update(name.substring(2), Instant.ofEpochMilli(number)));
        }
    }

    private static StoredEntry.Value value(String fingerprint, byte[] start, int length) {
        if (length < EntryFields.SHORTEST_VALUE) {
            return new StoredEntry.Value(fingerprint, length, null, 0, null, null);
        }
        Envelope envelope = EntryFields.envelope(start);
        return new StoredEntry.Value(
                fingerprint,
                length,
                Instant.ofEpochMilli(EntryFields.endOfLife(start)),
                EntryFields.epochOf(start),
                envelope.kind(),
                envelope.ttl());
    }

    private static StoredEntry.LeasedToken leasedToken(byte[] bytes) {
        String token = HexFormat.of().formatHex(bytes, 0, EntryFields.LEASE_END_OFFSET);
        return new StoredEntry.LeasedToken(token, Instant.ofEpochMilli(EntryFields.leaseEnd(bytes)));
    }
}
