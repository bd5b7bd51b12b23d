package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.admin.TopicSeries.Point;
import io.easykit.redis.ListReply;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Reads the samples that {@code sample.lua} packs with MessagePack: whole numbers, and arrays of them. */
final class PackedSamples {

    private static final int VALUES = 10;
    private static final long MINUTE = 60_000;

    /** Names of the values of the reply before the hours. */
    private enum SamplesReply {
        NOW,
        FROM,
        TO,
        VALUES
    }

    private enum HourField {
        RUNS
    }

    private PackedSamples() {}

    static ListReply reply(List<?> list) {
        return ListReply.of(QueueScript.SAMPLES.file(), list, SamplesReply.class);
    }

    static Instant now(ListReply reply) {
        return reply.instant(SamplesReply.NOW);
    }

    /**
     * Spreads the runs of equal samples over their minutes.
     *
     * @param reply    as the header of {@code samples.lua} names it
     * @param earliest first minute since the epoch
     */
    static List<Point> points(ListReply reply, long earliest) {
        TreeMap<Long, Point> points = new TreeMap<>();
        long latest = now(reply).toEpochMilli() / MINUTE;
        for (ListReply hour : reply.groups(HourField.class)) {
            byte[] runs = hour.bytesOrNull(HourField.RUNS);
            if (runs != null) {
                hour(runs, earliest, latest, points);
            }
        }
        String from = reply.textOrNull(SamplesReply.FROM);
        String to = reply.textOrNull(SamplesReply.TO);
        byte[] values = reply.bytesOrNull(SamplesReply.VALUES);
        if (from != null && to != null && values != null) {
            present(from, to, values, earliest, latest, points);
        }
        return new ArrayList<>(points.values());
    }

    private static void present(
            String from, String to, byte[] values, long earliest, long latest, Map<Long, Point> points) {
        try {
            spread(Long.parseLong(from), Long.parseLong(to), ByteBuffer.wrap(values), earliest, latest, points);
        } catch (NumberFormatException | BufferUnderflowException | UnreadableException byHand) {
            // Written by hand: no sample.
        }
    }

    private static void hour(byte[] text, long earliest, long latest, Map<Long, Point> points) {
        ByteBuffer runs = ByteBuffer.wrap(text);
        try {
            while (runs.get() != ':') {}
            while (runs.hasRemaining()) {
                spread(number(runs), number(runs), runs, earliest, latest, points);
            }
        } catch (BufferUnderflowException | UnreadableException byHand) {
            // The runs before it hold.
        }
    }

    private static void spread(
            long from, long to, ByteBuffer packed, long earliest, long latest, Map<Long, Point> points) {
        long[] values = values(packed);
        for (long minute = Math.max(from, earliest); minute <= Math.min(to, latest); minute++) {
            points.put(
                    minute,
                    new Point(
                            Instant.ofEpochMilli(minute * MINUTE),
                            values[0],
                            values[1],
                            values[2],
                            values[3],
                            Duration.ofSeconds(values[4]),
                            values[5],
                            values[6],
                            values[7],
                            values[8],
                            values[9]));
        }
    }

    private static long[] values(ByteBuffer packed) {
        if ((packed.get() & 0xff) != (0x90 | VALUES)) {
            throw new UnreadableException();
        }
        long[] values = new long[VALUES];
        for (int i = 0; i < VALUES; i++) {
            values[i] = number(packed);
        }
        return values;
    }

    private static long number(ByteBuffer packed) {
        int type = packed.get() & 0xff;
        return switch (type) {
            case 0xcc -> packed.get() & 0xff;
            case 0xcd -> packed.getShort() & 0xffff;
            case 0xce -> packed.getInt() & 0xffffffffL;
            case 0xcf, 0xd3 -> packed.getLong();
            default -> smallNumber(type);
        };
    }

    private static long smallNumber(int type) {
        if (type > 0x7f) {
            throw new UnreadableException();
        }
        return type;
    }

    private static final class UnreadableException extends RuntimeException {

        private static final long serialVersionUID = 1;

        UnreadableException() {
            super(null, null, false, false);
        }
    }
}
