package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.store.StoreUnavailableException;
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

    @Test
    void throwsAnyOtherErrorThanThatOfAStoreThatDoesNotAnswer() {
        StoreUnavailableException away = new StoreUnavailableException("away", true, null);
        StoreUnavailableException later = new StoreUnavailableException("away, too", true, null);
        IllegalStateException defect = new IllegalStateException("a defect");

        assertThatThrownBy(() -> AllCalls.forEach(List.of(away, later, defect), AllCallsTests::fail))
                .isSameAs(defect)
                .hasSuppressedException(away);
        assertThatThrownBy(() -> AllCalls.forEach(List.of(later, away), AllCallsTests::fail))
                .isSameAs(later)
                .hasSuppressedException(away);
    }

    private static void fail(RuntimeException error) {
        throw error;
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
