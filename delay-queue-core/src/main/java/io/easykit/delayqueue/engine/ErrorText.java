package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.support.LogText;
import java.io.PrintWriter;
import java.io.Writer;

/**
 * Writes an exception of the application as text, for messages and log lines: type and message of it and of its causes, and where
 * it was thrown.
 */
final class ErrorText {

    private static final int FRAMES = 12;
    private static final int MAX_LENGTH = 2000;
    private static final int MAX_CAUSES = 5;

    private ErrorText() {}

    /** Never throws, even if the methods of the exception do. */
    static String of(Throwable error) {
        try {
            return describe(error);
        } catch (Throwable e) {
            return error.getClass().getName() + " (its own methods throw "
                    + e.getClass().getName() + ")";
        }
    }

    /** First line of its text, for a log line. Never throws either. */
    static String lineOf(Throwable error) {
        return LogText.of(firstLine(of(error)));
    }

    /** The exception, or another one with its text if its own methods throw: loggers call them. */
    static Throwable printable(Throwable error) {
        try {
            error.printStackTrace(new PrintWriter(Writer.nullWriter()));
            return error;
        } catch (Throwable e) {
            return new IllegalStateException(of(error));
        }
    }

    private static String describe(Throwable error) {
        StringBuilder text = new StringBuilder(line(error));
        Throwable cause = error.getCause();
        for (int i = 0; cause != null && i < MAX_CAUSES; i++, cause = cause.getCause()) {
            text.append("\ncaused by ").append(line(cause));
        }
        StackTraceElement[] stack = error.getStackTrace();
        for (int i = 0; i < Math.min(FRAMES, stack.length); i++) {
            text.append("\n  at ").append(stack[i]);
        }
        return text.length() <= MAX_LENGTH ? text.toString() : text.substring(0, MAX_LENGTH);
    }

    static String firstLine(String text) {
        return text.lines().findFirst().orElse(text);
    }

    private static String line(Throwable error) {
        String message = error.getMessage();
        String type = error.getClass().getName();
        return message == null ? type : type + ": " + message.substring(0, Math.min(message.length(), MAX_LENGTH / 2));
    }
}
