package io.easykit.delayqueue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.UndeclaredThrowableException;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ErrorHandlerByTypeTests {

    private static final DelayMessage<String> MESSAGE = new DelayMessage<>(
            "orders", "a", "payload", Map.of(), Instant.EPOCH, "a/1", 0, 0, 0, new NoAcknowledgment());
    private static final ErrorAction FIRST = ErrorAction.retryAfter(Duration.ofSeconds(1));
    private static final ErrorAction SECOND = ErrorAction.retryAfter(Duration.ofSeconds(2));

    @Test
    void takesTheRuleForTheMostSpecificType() {
        ErrorHandler handler = ErrorHandler.byType()
                .on(IOException.class, FIRST)
                .on(FileNotFoundException.class, SECOND)
                .build();

        assertThat(decide(handler, new FileNotFoundException())).isEqualTo(SECOND);
        assertThat(decide(handler, new FileNotFoundException() {})).isEqualTo(SECOND);
        assertThat(decide(handler, new IOException())).isEqualTo(FIRST);
    }

    @Test
    void leavesOtherExceptionsToThePolicyOrToTheRuleForAllOthers() {
        ErrorHandler.ByType.Builder rules = ErrorHandler.byType().on(IOException.class, FIRST);

        assertThat(decide(rules.build(), new IllegalStateException())).isEqualTo(ErrorAction.byDefault());
        assertThat(decide(rules.otherwise(ErrorAction.dead()).build(), new IllegalStateException()))
                .isEqualTo(ErrorAction.dead());
    }

    @Test
    void looksThroughWrappersFromTheOutsideIn() {
        ErrorHandler handler = ErrorHandler.byType()
                .on(IllegalStateException.class, FIRST)
                .on(IOException.class, SECOND)
                .build();

        assertThat(decide(handler, new UndeclaredThrowableException(new ExecutionException(new IOException()))))
                .isEqualTo(SECOND);
        assertThat(decide(handler, new IllegalStateException(new IOException())))
                .isEqualTo(FIRST);
        assertThat(decide(handler, new UncheckedIOException(new IOException(new IllegalStateException()))))
                .isEqualTo(SECOND);
    }

    @Test
    void usesRulesThatFitNearlyEverythingLast() {
        ErrorHandler handler = ErrorHandler.byType()
                .on(Exception.class, FIRST)
                .on(IOException.class, SECOND)
                .build();

        assertThat(decide(handler, new RuntimeException(new IOException()))).isEqualTo(SECOND);
        assertThat(decide(handler, new IllegalArgumentException())).isEqualTo(FIRST);
        assertThat(decide(handler, new StackOverflowError())).isEqualTo(ErrorAction.byDefault());
    }

    @Test
    void usesRulesThatFitNearlyEverythingForACauseAsWell() {
        ErrorHandler handler = ErrorHandler.byType()
                .on(RuntimeException.class, FIRST)
                .on(Error.class, SECOND)
                .build();

        assertThat(decide(handler, new ExecutionException(new IllegalStateException())))
                .isEqualTo(FIRST);
        assertThat(decide(handler, new ExecutionException(new StackOverflowError())))
                .isEqualTo(SECOND);
        assertThat(decide(handler, new IllegalStateException(new StackOverflowError())))
                .isEqualTo(FIRST);
    }

    @Test
    void givesTheRuleTheExceptionThatItIsFor() {
        ErrorHandler handler = ErrorHandler.byType()
                .on(TooMany.class, error -> ErrorAction.retryAfter(error.wait))
                .build();

        assertThat(decide(handler, new ExecutionException(new TooMany(Duration.ofSeconds(2)))))
                .isEqualTo(SECOND);
    }

    @Test
    void endsWithCausesThatLeadBackIntoThemselves() {
        Exception one = new Exception();
        one.initCause(new Exception(one));

        assertThat(decide(ErrorHandler.byType().on(IOException.class, FIRST).build(), one))
                .isEqualTo(ErrorAction.byDefault());
    }

    @Test
    void refusesTwoRulesForAType() {
        assertThatThrownBy(
                        () -> ErrorHandler.byType().on(IOException.class, FIRST).on(IOException.class, SECOND))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("There are two rules for java.io.IOException: give one for each type.");
    }

    @Test
    void isNotChangedByItsBuilderLater() {
        ErrorHandler.ByType.Builder rules = ErrorHandler.byType();
        ErrorHandler handler = rules.build();
        rules.on(IOException.class, FIRST).otherwise(SECOND);

        assertThat(decide(handler, new IOException())).isEqualTo(ErrorAction.byDefault());
    }

    private static @Nullable ErrorAction decide(ErrorHandler handler, Throwable error) {
        return handler.onError(MESSAGE, error);
    }

    private static final class TooMany extends RuntimeException {

        private static final long serialVersionUID = 1;

        private final Duration wait;

        TooMany(Duration wait) {
            this.wait = wait;
        }
    }

    private static final class NoAcknowledgment implements Acknowledgment {

        @Override
        public void acknowledge() {}

        @Override
        public void fail(Throwable error) {}

        @Override
        public void fail(Throwable error, Duration retryAfter) {}

        @Override
        public void reject(Throwable error) {}

        @Override
        public boolean isLost() {
            return false;
        }
    }
}
