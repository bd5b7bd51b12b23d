package io.easykit.console.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.ListenerEndpoint;
import org.junit.jupiter.api.Test;
import org.springframework.mock.env.MockEnvironment;

class TopicSettingSourceTests {

    private final MockEnvironment environment = new MockEnvironment()
            .withProperty("delay-queue.topics.mail.concurrency", "8")
            .withProperty("delay-queue.topics.mail.back-off.delay", "2s");
    private final ListenerEndpoint endpoint = ListenerEndpoint.builder("mail", "mail", String.class)
            .concurrency(4)
            .build();

    @Test
    void namesTheSettingOfTheTopicOfAnAnnotatedMethod() {
        TopicSettingSource source = new TopicSettingSource(environment, "mail"::equals);

        assertThat(source.of(endpoint, "concurrency")).isEqualTo("delay-queue.topics[mail].concurrency");
        assertThat(source.of(endpoint, "back-off")).isEqualTo("delay-queue.topics[mail].back-off");
        assertThat(source.of(endpoint, "lease")).isNull();
    }

    @Test
    void namesTheSettingOfATopicWithADash() {
        ListenerEndpoint dashed =
                ListenerEndpoint.builder("a", "by-code", String.class).build();
        environment.withProperty("delay-queue.topics.by-code.concurrency", "8");

        assertThat(new TopicSettingSource(environment, id -> true).of(dashed, "concurrency"))
                .isEqualTo("delay-queue.topics[by-code].concurrency");
    }

    /** The settings of its topic do not apply to it. */
    @Test
    void namesNoneOfAListenerByCode() {
        TopicSettingSource source = new TopicSettingSource(environment, id -> false);

        assertThat(source.of(endpoint, "concurrency")).isNull();
        assertThat(source.of(endpoint, "back-off")).isNull();
    }
}
