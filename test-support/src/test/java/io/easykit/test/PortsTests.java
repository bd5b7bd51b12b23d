package io.easykit.test;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PortsTests {

    private static final int MANY = 500;

    /** Reserves many ports, prints them, and ends with its input. */
    static final class OtherJvm {
        private OtherJvm() {}

        public static void main(String[] arguments) throws IOException {
            for (int i = 0; i < MANY; i++) {
                System.out.println(Ports.reserve());
            }
            System.out.println("reserved");
            int end = System.in.read();
            System.exit(Math.max(end, 0));
        }
    }

    @Test
    void givesNoPortTwiceAlsoIfNothingListensOnIt() {
        List<Integer> here = new ArrayList<>();
        try (ChildJvm other = ChildJvm.start(OtherJvm.class)) {
            other.awaitLine("reserved"::equals, Duration.ofSeconds(60));
            List<Integer> there = other.lines().stream()
                    .filter(line -> !line.equals("reserved"))
                    .map(Integer::valueOf)
                    .toList();
            for (int i = 0; i < MANY; i++) {
                here.add(Ports.reserve());
            }

            assertThat(there).hasSize(MANY);
            assertThat(here).doesNotHaveDuplicates().doesNotContainAnyElementsOf(there);
        }
    }
}
