package io.easykit.example.tenants;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.test.DelayQueueTester;
import io.easykit.delayqueue.test.autoconfigure.AutoConfigureTestDelayQueue;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

@SpringBootTest(properties = "easy-cache.enabled=false")
@AutoConfigureTestDelayQueue
class TenantsTests {

    @Autowired
    DelayQueueTester queue;

    @Autowired
    DelayQueueTemplate template;

    @Autowired
    Tenants tenants;

    @Test
    void listensWhileTheContainerIsStarted() {
        template.send("mail-blue", "one");
        tenants.add("blue");
        queue.runDue();
        assertThat(tenants.handled()).containsExactly("blue: one");

        tenants.stop("blue");
        template.send("mail-blue", "two");
        queue.runDue();
        assertThat(tenants.handled()).hasSize(1);

        tenants.start("blue");
        queue.runDue();
        assertThat(tenants.handled()).containsExactly("blue: one", "blue: two");

        assertThatThrownBy(() -> tenants.add("blue"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("mail-blue");
    }
}
