package io.easykit.console.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.console.Refusal;
import org.junit.jupiter.api.Test;

class ScansTests {

    private final Scans scans = new Scans();

    @Test
    void runsTwoAtATimeAndRefusesAThird() {
        String done = scans.run(() -> scans.run(() -> {
            assertThatThrownBy(() -> scans.run(() -> "third")).isInstanceOfSatisfying(Refusal.class, refusal -> {
                assertThat(refusal.status()).isEqualTo(429);
                assertThat(refusal.getMessage()).contains("runs 2 searches");
                assertThat(refusal.action()).isNotBlank();
            });
            assertThatThrownBy(scans::requireFree).isInstanceOf(Refusal.class);
            return "second";
        }));

        assertThat(done).isEqualTo("second");
        scans.requireFree();
    }

    @Test
    void endsAScanThatFails() {
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> scans.run(() -> {
                        throw new IllegalStateException("failed");
                    }))
                    .hasMessage("failed");
        }

        scans.requireFree();
    }
}
