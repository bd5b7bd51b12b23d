package io.easykit.cache.history;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Writes the calls of one process to its file, one line for each event. A line is handed to the operating system before the
 * method returns, so it survives the death of the process. {@link History} reads the files.
 *
 * <p>An update writes a line before it begins, because it may take effect although it never returns. A read without a
 * result proves nothing, so a read is one line, written at its end.
 *
 * <p>Times are {@link System#nanoTime()}. On Linux and macOS that is one clock for all processes of the machine, which
 * {@link HistoryRun} checks for each child.
 */
final class Recorder implements AutoCloseable {

    static final String SUFFIX = ".history";

    private final AtomicLong calls = new AtomicLong();
    /** Not a channel, because the interrupt of a thread would close it. */
    private final FileOutputStream file;

    /** @param node name of the process, different from all others of the run */
    Recorder(Path directory, String node) {
        try {
            this.file = new FileOutputStream(directory.resolve(node + SUFFIX).toFile(), true);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void read(String key, boolean source, long began, long ended, int version) {
        write((source ? "S " : "R ") + key + " " + began + " " + ended + " " + version);
    }

    /** A call without effect on the register: a read that failed, an update that was refused, an invalidation. */
    void other(String what, String key, String outcome) {
        write("O " + what + " " + key + " " + outcome);
    }

    /** Returns the number of the call, for the other methods. */
    long updateBegins(String key) {
        long call = calls.incrementAndGet();
        write("U " + call + " " + key + " " + System.nanoTime());
        return call;
    }

    /** Called inside the transaction: from now on the version may be committed. */
    void updateCommits(long call, int version) {
        write("V " + call + " " + version);
    }

    void updateReturned(long call) {
        write("C " + call + " " + System.nanoTime());
    }

    /** Records that a call to Redis failed. */
    void storeFailed(long began, long ended) {
        write("F " + began + " " + ended);
    }

    private synchronized void write(String line) {
        try {
            file.write((line + "\n").getBytes(US_ASCII));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        try {
            file.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
