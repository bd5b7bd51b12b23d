package io.easykit.test;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;

/**
 * A JVM with the test's class path, which a test can kill or pause at any time.
 *
 * <p>It ends with the test's JVM at the latest.
 */
public final class ChildJvm implements AutoCloseable {

    /** Maximum time for a child to start an application. Generous, because a busy machine takes minutes. */
    public static final Duration START = Duration.ofMinutes(3);

    /** Most children live for seconds: neither the second compiler nor the verifier pays. */
    private static final List<String> START_QUICKLY = List.of(
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-Xshare:auto",
            "-XX:+UnlockDiagnosticVMOptions",
            "-XX:-BytecodeVerificationRemote");

    private static final Duration LAST_OUTPUT = Duration.ofSeconds(10);

    private final String name;
    private final OwnedProcess process;
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final Thread reader;
    private volatile boolean outputEnded;

    private ChildJvm(String name, OwnedProcess process) {
        this.name = name;
        this.process = process;
        this.reader = new Thread(this::readOutput, "output-of-" + name);
        reader.setDaemon(true);
    }

    /** Runs the main method of a class on the test's class path. */
    public static ChildJvm start(Class<?> main, String... arguments) {
        return start(
                main.getSimpleName(),
                List.of("-cp", System.getProperty("java.class.path"), main.getName()),
                List.of(arguments));
    }

    /** Runs a jar, as {@code java -jar} does. */
    public static ChildJvm startJar(Path jar, String... arguments) {
        return start(String.valueOf(jar.getFileName()), List.of("-jar", jar.toString()), List.of(arguments));
    }

    private static ChildJvm start(String name, List<String> program, List<String> arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(START_QUICKLY);
        command.addAll(program);
        command.addAll(arguments);
        OwnedProcess process = OwnedProcess.start(new ProcessBuilder(command).redirectErrorStream(true));
        ChildJvm child = new ChildJvm(name, process);
        child.reader.start();
        return child;
    }

    /** Returns the output so far, including errors; all of it if the child has ended. */
    public List<String> lines() {
        if (!isAlive()) {
            awaitEndOfOutput();
        }
        return List.copyOf(lines);
    }

    /**
     * Waits for a line of output, which may have been printed already.
     *
     * @return the first such line
     * @throws IllegalStateException if there is none in time, or the child ends without one; contains all its output
     */
    public String awaitLine(Predicate<String> wanted, Duration timeout) {
        Waiting.until(
                timeout,
                () -> outputEnded || find(wanted).isPresent(),
                () -> name + " ran for " + timeout + " without the expected line" + output());
        return find(wanted)
                .orElseThrow(() -> new IllegalStateException(name + " ended without the expected line" + output()));
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** Kills the child without a chance to clean up (SIGKILL), and waits until it is gone. */
    public void kill() {
        process.kill();
    }

    /** Stops the child (SIGSTOP), like a long pause of the garbage collector. */
    public void pause() {
        process.pause();
    }

    /** Continues a paused child (SIGCONT). */
    public void resume() {
        process.resume();
    }

    /** Requests a shutdown (SIGTERM), so that shutdown hooks run. Does not wait. */
    public void terminate() {
        process.terminate();
    }

    /**
     * Waits for the child to end.
     *
     * @return its exit code; 128 plus the number of the signal if a signal ended it
     * @throws IllegalStateException if it is still running after the timeout
     */
    public int waitFor(Duration timeout) {
        return process.waitFor(timeout);
    }

    /** Kills the child if it is still running. */
    @Override
    public void close() {
        process.kill();
    }

    /** A process that the child has started may keep the output open. */
    private void awaitEndOfOutput() {
        try {
            reader.join(LAST_OUTPUT.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void readOutput() {
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(process.output(), UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                lines.add(line);
            }
        } catch (IOException e) {
            lines.add("(the output broke off: " + e.getMessage() + ")");
        } finally {
            outputEnded = true;
        }
    }

    private Optional<String> find(Predicate<String> wanted) {
        return lines.stream().filter(wanted).findFirst();
    }

    private String output() {
        return "; it printed:" + System.lineSeparator() + String.join(System.lineSeparator(), lines);
    }
}
