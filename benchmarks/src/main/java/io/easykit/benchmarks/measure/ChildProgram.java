package io.easykit.benchmarks.measure;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A program in a separate JVM. It prints a line when it is ready, reads commands from its standard input, and replies
 * to each with a line. It ends when its input ends, so with this JVM at the latest.
 */
public final class ChildProgram implements AutoCloseable {

    private final String name;
    private final Process process;
    private final BufferedReader answers;
    private final BufferedWriter orders;

    private ChildProgram(String name, Process process) {
        this.name = name;
        this.process = process;
        this.answers = process.inputReader(StandardCharsets.UTF_8);
        this.orders = new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
    }

    /**
     * Starts it and waits until it is ready.
     *
     * @param name name in errors
     * @param ready the line printed when it is ready
     * @param heap heap size, such as {@code 256m}
     * @param classPath class path with its main class
     */
    public static ChildProgram start(
            String name, String ready, String heap, String classPath, String mainClass, List<String> arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xms" + heap,
                "-Xmx" + heap,
                "-Dlogging.level.root=warn",
                "-cp",
                classPath,
                mainClass));
        command.addAll(arguments);
        try {
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
            ChildProgram program = new ChildProgram(name, process);
            while (!ready.equals(program.answer())) {
                // Skips output of frameworks during the start.
            }
            return program;
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot run " + command.get(0), e);
        }
    }

    /** Sends a command and waits for its reply. */
    public String ask(String order) {
        try {
            orders.write(order + "\n");
            orders.flush();
            return answer();
        } catch (IOException e) {
            throw new UncheckedIOException(name + " takes no orders; its error is above", e);
        }
    }

    /** CPU time so far, on all cores. */
    public Duration cpu() {
        return process.info().totalCpuDuration().orElse(Duration.ZERO);
    }

    /** Lets the program end by itself, so that it can print errors. */
    @Override
    public void close() {
        try {
            orders.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        int code = process.onExit().orTimeout(30, TimeUnit.SECONDS).join().exitValue();
        if (code != 0) {
            throw new IllegalStateException(name + " ended with " + code);
        }
    }

    private String answer() throws IOException {
        String line = answers.readLine();
        if (line == null) {
            throw new IllegalStateException(name + " ended; its error is above");
        }
        return line;
    }
}
