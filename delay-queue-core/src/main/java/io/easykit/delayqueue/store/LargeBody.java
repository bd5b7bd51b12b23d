package io.easykit.delayqueue.store;

import io.easykit.delayqueue.support.Bytes;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.Optional;

/**
 * Reads a body piece by piece. A reply with all of it might take longer than the command timeout, and everything else on the
 * connection would wait behind it. Each call contains the first bytes of the body, so that pieces of two messages with the same
 * id are never put together.
 */
public final class LargeBody {

    /** About 5 ms on a line of 100 Mbit/s. */
    public static final int PIECE = 1 << 16;

    private LargeBody() {}

    /** Reads one piece. */
    @FunctionalInterface
    public interface Piece {

        /**
         * One call.
         *
         * @param incarnation first 8 bytes of the body, or none for the first piece
         * @return empty if the body is gone, is another one, or ends before
         */
        Optional<Bytes> read(Bytes incarnation, int from, int count);
    }

    /**
     * Reads all pieces.
     *
     * @param pieceSize at least 8 bytes
     * @return empty if the body is gone, or has become another one
     */
    public static Optional<Bytes> read(int size, int pieceSize, Piece piece) {
        ByteArrayOutputStream body = new ByteArrayOutputStream(size);
        Bytes incarnation = Bytes.NONE;
        while (body.size() < size) {
            Optional<Bytes> next = piece.read(incarnation, body.size(), Math.min(pieceSize, size - body.size()));
            if (next.isEmpty()) {
                return Optional.empty();
            }
            body.writeBytes(next.get().array());
            if (incarnation.length() == 0) {
                incarnation = Bytes.of(Arrays.copyOf(body.toByteArray(), Math.min(Long.BYTES, body.size())));
            }
        }
        return Optional.of(Bytes.of(body.toByteArray()));
    }
}
