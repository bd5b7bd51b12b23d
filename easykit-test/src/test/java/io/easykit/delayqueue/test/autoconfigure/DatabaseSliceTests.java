package io.easykit.delayqueue.test.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.test.DelayQueueTester;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** A slice with the database, as {@code @DataJpaTest} is: outbox and records of handled messages come with the queue. */
@SpringBootTest(
        classes = DatabaseSliceTests.Application.class,
        properties = {"delay-queue.send-phase=outbox", "spring.datasource.generate-unique-name=true"})
@ImportAutoConfiguration({DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class})
@AutoConfigureTestDelayQueue
class DatabaseSliceTests {

    @Configuration(proxyBeanMethods = false)
    @Import(Charges.class)
    static class Application {}

    static class Charges {

        private final AtomicInteger count = new AtomicInteger();

        @DelayListener(topic = "charge", idempotent = true)
        void charge(long id) {
            count.incrementAndGet();
        }
    }

    @Test
    void chargesOnceAfterTheCommit(
            @Autowired DelayQueueTester queue,
            @Autowired DelayQueueTemplate template,
            @Autowired Charges charges,
            @Autowired PlatformTransactionManager transactions) {
        queue.faults().crashAfterNextHandler();
        new TransactionTemplate(transactions).executeWithoutResult(status -> template.send("charge", 7));

        queue.advance(Duration.ofMinutes(2));

        assertThat(queue).hasNoMessages("charge");
        assertThat(charges.count).hasValue(1);
    }
}
