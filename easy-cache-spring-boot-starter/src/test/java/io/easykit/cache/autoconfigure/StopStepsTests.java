package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StopStepsTests {

    private final List<Throwable> made = new ArrayList<>();

    private Runnable failing(Throwable failure) {
        return () -> {
            made.add(failure);
            if (failure instanceof Error error) {
                throw error;
            }
            throw (RuntimeException) failure;
        };
    }

    @Test
    void makesAllStepsAndThrowsTheFirstFailureWithTheOthers() {
        RuntimeException first = new IllegalStateException("first");
        Error second = new AssertionError("second");
        RuntimeException third = new IllegalStateException("third");

        Throwable thrown = catchThrowable(
                () -> StopSteps.make(List.of(failing(first), failing(second), failing(third), failing(first))));

        assertThat(made).containsExactly(first, second, third, first);
        assertThat(thrown).isSameAs(first).hasSuppressedException(second).hasSuppressedException(third);
        assertThat(thrown.getSuppressed()).hasSize(2);
    }

    @Test
    void throwsAnErrorAsItIs() {
        Error defect = new AssertionError("a defect");
        RuntimeException later = new IllegalStateException("later");

        assertThat(catchThrowable(() -> StopSteps.make(List.of(failing(defect), failing(later)))))
                .isSameAs(defect)
                .hasSuppressedException(later);
    }

    @Test
    void throwsNothingIfAllStepsEnd() {
        assertThatCode(() -> StopSteps.make(List.of(() -> {}, () -> {}))).doesNotThrowAnyException();
    }
}
