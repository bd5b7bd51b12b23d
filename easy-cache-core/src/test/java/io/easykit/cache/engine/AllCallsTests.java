package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class AllCallsTests {

    private final List<String> calls = new ArrayList<>();

    @Test
    void makesEachCallInOrder() {
        AllCalls.forEach(List.of("a", "b"), calls::add);
        assertThat(calls).containsExactly("a", "b");
    }

    @Test
    void throwsTheFirstErrorAfterTheLastCall() {
        IllegalStateException first = new IllegalStateException("first");
        AssertionError second = new AssertionError("second");

        assertThatThrownBy(() -> AllCalls.forEach(List.of("a", "b", "c"), member -> {
                    calls.add(member);
                    if (member.equals("a")) {
                        throw first;
                    } else if (member.equals("b")) {
                        throw second;
                    }
                }))
                .isSameAs(first)
                .hasSuppressedException(second);
        assertThat(calls).containsExactly("a", "b", "c");
    }

    /** An exception cannot be suppressed by itself. */
    @Test
    void throwsAnErrorOfSeveralCallsOnce() {
        AssertionError same = new AssertionError("same");

        assertThatThrownBy(() -> AllCalls.forEach(List.of("a", "b"), member -> {
                    throw same;
                }))
                .isSameAs(same)
                .hasNoSuppressedExceptions();
    }
}
