package io.easykit.sample.order;

import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.PayloadCodec;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.test.DelayQueueAssert;
import java.time.Duration;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.context.TestPropertySource;

/** The same in real time, with the embedded Redis of the shop. */
@TestPropertySource(
        properties = {
            "shop.payment-timeout=10s",
            "easy-cache.command-timeout=60s",
            "delay-queue.command-timeout=60s",
            "delay-queue.outbox.lease=10m",
        })
class OrderClosingIntegrationTests extends OrderClosingContract {

    @Autowired
    private DelayQueueAdmin admin;

    @Autowired
    private PayloadCodec codec;

    @Override
    DelayQueueAssert queue() {
        return DelayQueueAssert.assertThat(admin, codec);
    }

    @Override
    void after(Duration time, Runnable assertion) {
        await().atMost(time.plusSeconds(30)).untilAsserted(assertion::run);
    }
}
