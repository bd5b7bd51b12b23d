package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.ErrorAction;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.TopicConflictException;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.Job;
import io.easykit.delayqueue.admin.JobRequest;
import io.easykit.delayqueue.admin.MessagePage;
import io.easykit.delayqueue.admin.MessageQuery;
import io.easykit.delayqueue.admin.MessageSummary;
import io.easykit.delayqueue.admin.TopicStats;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A topic of an application that shares the store, and has more shards than the settings of this one say for all topics.
 * Operators administrate it from here, too.
 */
class ForeignTopicTests {

    private static final int SHARDS = 4;
    private static final int MESSAGES = 40;

    private final TestQueue here = new TestQueue(builder -> builder.shards(topic -> 2));
    private final DelayQueueEngine there =
            here.builder(here.time.node(), here.memory).shards(topic -> SHARDS).build();
    private final DelayQueueAdmin admin = here.engine.admin();

    @BeforeEach
    void die() {
        ListenerContainer container =
                here.start(there, listener().errorHandler((message, error) -> ErrorAction.dead()), message -> {
                    throw new IllegalStateException("no stock");
                });
        for (int i = 0; i < MESSAGES; i++) {
            there.template().send(OutgoingMessage.of(TOPIC, "x").id("m" + i));
        }
        here.time.advance(Duration.ofSeconds(2));
        here.stop(container);
        here.memory.fleet().addTopics(Map.of(TOPIC, SHARDS));
    }

    @Test
    void isShownWithAllItsShards() {
        TopicStats stats = admin.stats(TOPIC);
        MessagePage page = admin.messages(TOPIC, MessageQuery.dead().size(100));

        assertThat(stats.shards()).hasSize(SHARDS);
        assertThat(stats.dead()).isEqualTo(MESSAGES);
        assertThat(page.messages()).hasSize(MESSAGES);
        assertThat(admin.groups(TOPIC).total()).isEqualTo(MESSAGES);
        assertThat(admin.stoppedKeys(TOPIC)).isEmpty();
        for (MessageSummary message : page.messages()) {
            assertThat(admin.find(TOPIC, message.id())).isPresent();
            assertThat(admin.find(message.id())).hasSize(1);
            assertThat(here.engine.template().find(TOPIC, message.id())).isPresent();
        }
        assertThat(here.engine.fleet().series(TOPIC, Duration.ofHours(1)).points())
                .isEqualTo(there.fleet().series(TOPIC, Duration.ofHours(1)).points());
    }

    @Test
    void isChangedInAllItsShards() {
        assertThat(here.engine.fleet().pause(TOPIC, "ops")).isEqualTo(SHARDS);
        assertThat(here.engine.fleet().resume(TOPIC)).isEqualTo(SHARDS);

        assertThat(admin.redrive(
                        TOPIC,
                        deaths().subList(0, 20).stream()
                                .map(MessageSummary::death)
                                .toList()))
                .containsOnly(true);
        assertThat(admin.cancel(
                        TOPIC, waiting().stream().map(MessageSummary::ref).toList()))
                .containsOnly(ChangeOutcome.APPLIED);
        assertThat(admin.purge(
                        TOPIC,
                        deaths().subList(0, 10).stream()
                                .map(MessageSummary::death)
                                .toList()))
                .containsOnly(true);
        Job job = admin.start(JobRequest.purge(TOPIC));
        here.time.advance(Duration.ofMinutes(1));

        assertThat(admin.job(job.id())).get().satisfies(done -> {
            assertThat(done.state()).isEqualTo(Job.State.DONE);
            assertThat(done.done()).isEqualTo(10);
        });
        assertThat(admin.stats(TOPIC).dead()).isZero();
        assertThat(admin.growShards(TOPIC, 6)).isEqualTo(SHARDS);
    }

    @Test
    void isNotSentToHoweverOftenItIsLookedAt() {
        for (int minute = 0; minute < 3; minute++) {
            assertThat(admin.stats(TOPIC).shards()).hasSize(SHARDS);
            assertThatThrownBy(() -> here.engine.template().send(OutgoingMessage.of(TOPIC, "x")))
                    .isInstanceOf(TopicConflictException.class)
                    .hasMessageContaining("has 4 shards in the store, and the settings say 2");
            assertThatThrownBy(() -> here.start(listener(), message -> {})).isInstanceOf(TopicConflictException.class);
            here.time.advance(Duration.ofMinutes(1));
        }
    }

    private List<MessageSummary> deaths() {
        return admin.messages(TOPIC, MessageQuery.dead().size(100)).messages();
    }

    private List<MessageSummary> waiting() {
        return admin.messages(TOPIC, MessageQuery.of(State.WAITING).size(100)).messages();
    }
}
