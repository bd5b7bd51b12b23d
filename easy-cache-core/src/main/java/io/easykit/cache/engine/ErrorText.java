package io.easykit.cache.engine;

import io.easykit.cache.ValueCodec;
import io.easykit.cache.type.VisibleText;
import java.io.PrintWriter;
import java.io.Writer;

/** Writes an exception of the application as text. Never throws, even if the methods of the exception do. */
final class ErrorText {

    private ErrorText() {}

    /** Type and message, in one visible line. */
    static String of(Throwable error) {
        try {
            return VisibleText.of(error.toString());
        } catch (Throwable own) {
            return error.getClass().getName() + " (its own methods throw "
                    + own.getClass().getName() + ")";
        }
    }

    /** As {@link ValueCodec#describe}. */
    static String by(ValueCodec codec, Throwable error) {
        try {
            return codec.describe(error);
        } catch (Throwable own) {
            return error.getClass().getName();
        }
    }

    /** The exception, or another one with its text if its own methods throw: loggers call them. */
    static Throwable printable(Throwable error) {
        try {
            error.printStackTrace(new PrintWriter(Writer.nullWriter()));
            return error;
        } catch (Throwable own) {
            return new IllegalStateException(of(error));
        }
    }
}
