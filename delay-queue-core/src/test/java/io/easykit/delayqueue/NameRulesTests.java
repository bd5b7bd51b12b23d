package io.easykit.delayqueue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.easykit.delayqueue.support.NameRules;
import org.junit.jupiter.api.Test;

class NameRulesTests {

    @Test
    void refusesOwnIdsThatCannotBeTold() {
        for (String id : new String[] {"", " ", "~0~abc", "x".repeat(257)}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> NameRules.requireOwnId(id))
                    .withMessageContaining("give it");
        }
        assertThat(NameRules.requireOwnId("order 17/ä")).isEqualTo("order 17/ä");
    }
}
