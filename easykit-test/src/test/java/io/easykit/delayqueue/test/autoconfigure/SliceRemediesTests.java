package io.easykit.delayqueue.test.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.autoconfigure.DelayQueueAutoConfiguration;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** A slice lacks beans of the application. The error of its start says what a test can do about it. */
class SliceRemediesTests {

    private final ApplicationContextRunner slice = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(TestDelayQueueAutoConfiguration.class, DelayQueueAutoConfiguration.class));

    static class Charges {
        @DelayListener(topic = "charge", idempotent = true)
        void charge(long id) {}
    }

    static class Mails {
        @DelayListener(topic = "mail", errorHandler = "mailErrors")
        void send(String to) {}
    }

    private static void refuses(ApplicationContextRunner runner, String remedy) {
        runner.run(context -> assertThat(context).getFailure().hasMessageContaining(remedy));
    }

    @Test
    void switchesTheOutboxOff() {
        refuses(
                slice.withPropertyValues("delay-queue.send-phase=outbox"),
                "In a slice without the database set delay-queue.send-phase=before-commit");
    }

    @Test
    void switchesTheRecordsOfHandledMessagesOff() {
        refuses(
                slice.withBean(Charges.class),
                "In a slice without the database set delay-queue.topics.charge.idempotent=false");
        slice.withBean(Charges.class)
                .withPropertyValues("delay-queue.topics.charge.idempotent=false")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void importsTheConfigurationOfAnErrorHandler() {
        refuses(
                slice.withBean(Mails.class),
                "A slice leaves out classes with @Configuration: name its class in @Import");
    }
}
