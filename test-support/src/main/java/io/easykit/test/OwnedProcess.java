package io.easykit.test;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * A child process that can be signalled and does not outlive this JVM, however the JVM ends.
 *
 * <p>Shutdown hooks do not run when the JVM is killed. So a guard, a shell process, reads from a pipe that only this
 * JVM writes to, and kills the process when the pipe breaks.
 */
final class OwnedProcess {
    private static final String GUARD = "trap '' HUP INT TERM; read -r _; kill -9 \"$1\"; rm -rf -- \"$2\"";

    /**
     * Signals are sent through its handle: the methods of the process also close its streams and drop unread output.
     */
    private final Process process;

    private OwnedProcess(Process process) {
        this.process = process;
    }

    /**
     * Starts the process.
     *
     * @throws UncheckedIOException if the program cannot be run
     */
    static OwnedProcess start(ProcessBuilder builder) {
        return start(builder, "");
    }

    /** Starts the process in the given directory. The guard deletes the directory afterwards. */
    static OwnedProcess startIn(Path ownDirectory, ProcessBuilder builder) {
        return start(builder.directory(ownDirectory.toFile()), ownDirectory.toString());
    }

    private static OwnedProcess start(ProcessBuilder builder, String toDelete) {
        try {
            Process process = builder.start();
            Process guard = shell(GUARD, String.valueOf(process.pid()), toDelete);
            var unused = process.onExit().thenRun(guard::destroyForcibly);
            return new OwnedProcess(process);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot run " + builder.command().get(0), e);
        }
    }

    long pid() {
        return process.pid();
    }

    /** Returns the output of the process, unless its builder redirects it. */
    InputStream output() {
        return process.getInputStream();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** SIGKILL; returns when the process is gone. */
    void kill() {
        process.toHandle().destroyForcibly();
        waitFor(Duration.ofSeconds(30));
    }

    /** SIGTERM; returns at once. */
    void terminate() {
        process.toHandle().destroy();
    }

    /** SIGSTOP; returns when the process has stopped. */
    void pause() {
        signal("STOP");
        Path stat = Path.of("/proc", String.valueOf(pid()), "stat");
        // When kill returns, the signal is only pending, so one more command might run.
        if (Files.exists(stat)) {
            Waiting.until(Duration.ofSeconds(10), () -> isStopped(stat), () -> "Process did not stop: " + pid());
        }
    }

    /** SIGCONT. */
    void resume() {
        signal("CONT");
    }

    /**
     * Waits for the process to end.
     *
     * @return the exit code; 128 plus the number of the signal if a signal ended the process
     * @throws IllegalStateException if it is still running after the timeout
     */
    int waitFor(Duration timeout) {
        try {
            if (!process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new IllegalStateException("Process " + pid() + " is still running after " + timeout);
            }
            return process.exitValue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting for process " + pid(), e);
        }
    }

    private void signal(String name) {
        if (!isAlive()) {
            throw new IllegalStateException("Process " + pid() + " is not running, so it cannot receive SIG" + name);
        }
        try {
            int exit =
                    shell("kill -s \"$1\" \"$2\"", name, String.valueOf(pid())).waitFor();
            if (exit != 0) {
                throw new IllegalStateException("SIG" + name + " did not reach process " + pid());
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot run sh, which sends signals", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while sending SIG" + name, e);
        }
    }

    /** The state follows the program name, which is in parentheses and may contain any characters. */
    private static boolean isStopped(Path stat) {
        try {
            String line = Files.readString(stat);
            return line.charAt(line.lastIndexOf(')') + 2) == 'T';
        } catch (IOException e) {
            throw new UncheckedIOException("Process ended instead of stopping", e);
        }
    }

    private static Process shell(String script, String first, String second) throws IOException {
        return new ProcessBuilder("sh", "-c", script, "sh", first, second)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
    }
}
