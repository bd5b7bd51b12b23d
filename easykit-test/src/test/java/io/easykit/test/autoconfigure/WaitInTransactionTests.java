package io.easykit.test.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.Consistency;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.test.DelayQueueTester;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** A call that waits within a transaction. In production the handlers of due messages run on other threads. */
@SpringBootTest(classes = WaitInTransactionTests.Application.class, properties = "spring.data.redis.port=1")
@AutoConfigureTestEasykit
class WaitInTransactionTests {

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({Prices.class, Mails.class})
    static class Application {}

    static class Prices {

        private final DelayQueueTemplate queue;

        Prices(DelayQueueTemplate queue) {
            this.queue = queue;
        }

        @Cacheable(prefix = "price", keys = "#id", consistency = Consistency.CP)
        public String of(long id) {
            return "19.90";
        }

        /** A clearing waits after the commit. */
        @Transactional
        @UpdateCache(prefix = "price", all = true)
        public void changeAll() {
            queue.send("mail", "new prices");
        }
    }

    static class Mails {

        private final List<Boolean> inTransaction = new ArrayList<>();

        @DelayListener(topic = "mail")
        void send(String text) {
            inTransaction.add(TransactionSynchronizationManager.isActualTransactionActive());
        }
    }

    @Autowired
    private DelayQueueTester queue;

    @Autowired
    private Prices prices;

    @Autowired
    private Mails mails;

    @Test
    void aClearingLeavesHandlersToTheNextAdvance() {
        prices.changeAll();
        assertThat(mails.inTransaction).isEmpty();

        queue.runDue();
        assertThat(mails.inTransaction).containsExactly(false);
    }
}
