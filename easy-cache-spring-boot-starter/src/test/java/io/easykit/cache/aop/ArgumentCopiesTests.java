package io.easykit.cache.aop;

import static org.assertj.core.api.Assertions.assertThatCode;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class ArgumentCopiesTests {

    /** A method need not use an argument that another thread changes, so its copy must not fail the call. */
    @Test
    void aListThatAnotherThreadChangesFailsNoCall() throws InterruptedException {
        List<String> shared = new ArrayList<>(Collections.nCopies(10_000, "element"));
        AtomicBoolean done = new AtomicBoolean();
        Thread other = new Thread(
                () -> {
                    while (!done.get()) {
                        shared.add("more");
                        shared.remove(shared.size() - 1);
                    }
                },
                "changes-the-list");
        other.start();
        try {
            assertThatCode(() -> {
                        for (int i = 0; i < 1_000; i++) {
                            ArgumentCopies.of(new Object[] {shared});
                        }
                    })
                    .doesNotThrowAnyException();
        } finally {
            done.set(true);
            other.join();
        }
    }
}
