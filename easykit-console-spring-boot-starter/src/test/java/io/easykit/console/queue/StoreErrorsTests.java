package io.easykit.console.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.easykit.console.Caller;
import io.easykit.console.ConsoleApi.Planned;
import io.easykit.console.Refusal;
import io.easykit.delayqueue.BatchCancelException;
import io.easykit.delayqueue.BatchSendException;
import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.IdempotencyStore;
import io.easykit.delayqueue.MessageTooLargeException;
import io.easykit.delayqueue.NotReplicatedException;
import io.easykit.delayqueue.StoreFullException;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.TopicConflictException;
import io.easykit.delayqueue.UndecodableMessageException;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** An exception of the queue is a reply with its text and a remedy. Any other one would be a stack trace in the log. */
class StoreErrorsTests {

    private static final Caller OPERATOR = new Caller("ada", "10.0.0.1", true, true, true);

    /**
     * An exception, and the reply to it.
     *
     * @param text   part of its reason
     * @param remedy part of its remedy
     */
    record Sample(DelayQueueException thrown, int status, String text, String remedy) {}

    static Stream<Sample> samples() {
        IOException cause = new IOException();
        return Stream.of(
                new Sample(new StoreUnavailableException("No reply.", cause), 503, "did not answer", "Check Redis"),
                new Sample(new StoreRefusedException("A list.", null), 503, "A list.", "Correct it in Redis."),
                new Sample(new StoreFullException("No memory.", cause), 503, "No memory.", "Raise maxmemory"),
                new Sample(new TopicConflictException("4 shards.", "Set 4."), 409, "4 shards.", "Set 4."),
                new Sample(new MessageTooLargeException("orders", 9, 8), 413, "has 9 bytes", "Shorten it"),
                new Sample(new UndecodableMessageException("8 bytes.", null), 409, "8 bytes.", "of a later version"));
    }

    @ParameterizedTest
    @MethodSource("samples")
    void explainsEachException(Sample sample) {
        Refusal read = catchThrowableOfType(Refusal.class, () -> StoreErrors.explained((request, caller) -> {
                    throw sample.thrown;
                })
                .answer(null, OPERATOR));
        Refusal one = changeOf(List.of("1"), sample.thrown);
        Refusal several = changeOf(List.of("1", "2"), sample.thrown);

        assertThat(List.of(read, one, several)).allSatisfy(reply -> {
            assertThat(reply.status()).isEqualTo(sample.status);
            assertThat(reply).hasMessageContaining(sample.text);
            assertThat(reply.action()).contains(sample.remedy);
        });
        assertThat(several.getMessage().contains("may have been made")).isEqualTo(sample.status == 503);
    }

    private static Refusal changeOf(List<String> ids, DelayQueueException thrown) {
        Planned planned = StoreErrors.explained(Map.of(
                        "purge",
                        (input, caller) -> new Planned("orders", ids, "", () -> {
                            throw thrown;
                        })))
                .get("purge")
                .plan(null, OPERATOR);
        return catchThrowableOfType(Refusal.class, () -> planned.act().run());
    }

    /** Those of sends and of handlers are left out: the console does neither. */
    @Test
    void knowsAllExceptionsOfTheQueue() {
        List<Class<?>> others = List.of(
                NotReplicatedException.class,
                BatchSendException.class,
                BatchCancelException.class,
                IdempotencyStore.UnavailableException.class);

        Stream<Class<?>> all = new ClassFileImporter()
                .importPackagesOf(DelayQueueException.class).stream()
                        .filter(one -> one.getPackageName().equals(DelayQueueException.class.getPackageName()))
                        .filter(one -> one.isAssignableTo(DelayQueueException.class))
                        .filter(one -> !one.getModifiers().contains(JavaModifier.ABSTRACT))
                        .map(JavaClass::reflect);

        assertThat(all)
                .containsExactlyInAnyOrderElementsOf(
                        Stream.concat(others.stream(), samples().map(sample -> sample.thrown.getClass()))
                                .toList());
    }
}
