package io.easykit.delayqueue.test;

import io.easykit.test.Prose;
import org.junit.jupiter.api.Test;

class ProseTests {

    @Test
    void readsWell() {
        Prose.ofMainCode().check();
    }
}
