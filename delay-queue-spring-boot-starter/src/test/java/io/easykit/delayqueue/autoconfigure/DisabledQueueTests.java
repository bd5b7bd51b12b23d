package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.easykit.delayqueue.BatchSendException;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.admin.ActionLog;
import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.FleetAdmin;
import io.easykit.delayqueue.admin.Job;
import io.easykit.delayqueue.admin.JobRequest;
import io.easykit.delayqueue.admin.MessageQuery;
import io.easykit.delayqueue.admin.MessageRef;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.jackson.JacksonPayloadCodec;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.DueTime;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each method of the API of a disabled delay queue. */
class DisabledQueueTests {

    /** The topic, the id of a message and the id of a job. */
    private static final String NAME = "0".repeat(32);

    private static final Map<String, Object> VALUES = Map.ofEntries(
            Map.entry("int", 1),
            Map.entry("long", 0L),
            Map.entry("String", NAME),
            Map.entry("Object", "payload"),
            Map.entry("Collection<String>", List.of(NAME)),
            Map.entry("Duration", Duration.ofMinutes(1)),
            Map.entry("ZonedDateTime", Instant.EPOCH.atZone(ZoneOffset.UTC)),
            Map.entry("Instant", Instant.EPOCH),
            Map.entry("DueTime", DueTime.after(Duration.ZERO)),
            Map.entry("Bytes", Bytes.of(new byte[] {'1'})),
            Map.entry("OutgoingMessage", OutgoingMessage.of(NAME, "payload")),
            Map.entry("List<OutgoingMessage>", List.of(OutgoingMessage.of(NAME, "payload"))),
            Map.entry("MessageQuery", MessageQuery.dead()),
            Map.entry("MessageRef", new MessageRef(NAME, null)),
            Map.entry("List<MessageRef>", List.of(new MessageRef(NAME, null))),
            Map.entry("DeadLetterRef", new DeadLetterRef(NAME, Instant.EPOCH)),
            Map.entry("List<DeadLetterRef>", List.of(new DeadLetterRef(NAME, Instant.EPOCH))),
            Map.entry("Map<String, String>", Map.of()),
            Map.entry("JobRequest", JobRequest.purge(NAME)));

    private final DelayQueueEngine ignoring = engine(DisabledQueue.Calls.IGNORE);
    private final DelayQueueEngine failing = engine(DisabledQueue.Calls.FAIL);

    private static DelayQueueEngine engine(DisabledQueue.Calls calls) {
        return DelayQueueEngine.builder(DisabledQueue.store(calls))
                .codec(new JacksonPayloadCodec())
                .build();
    }

    @AfterEach
    void close() {
        ignoring.close();
        failing.close();
    }

    static Stream<Method> methods() {
        return Stream.of(DelayQueueTemplate.class, DelayQueueAdmin.class, FleetAdmin.class, ActionLog.class)
                .flatMap(type -> Arrays.stream(type.getMethods()))
                .filter(method -> !Modifier.isStatic(method.getModifiers()));
    }

    private static @Nullable Object call(DelayQueueEngine engine, Method method) throws Throwable {
        Object bean = Stream.of(engine.template(), engine.admin(), engine.fleet(), engine.actions())
                .filter(method.getDeclaringClass()::isInstance)
                .findFirst()
                .orElseThrow();
        Object[] arguments = Arrays.stream(method.getGenericParameterTypes())
                .map(DisabledQueueTests::value)
                .toArray();
        try {
            return method.invoke(bean, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static Object value(Type type) {
        String name = type.getTypeName().replaceAll("[a-z0-9]+\\.", "");
        return Objects.requireNonNull(VALUES.get(name), () -> "Give a value of " + name);
    }

    @ParameterizedTest
    @MethodSource("methods")
    void ignoresEachCall(Method method) throws Throwable {
        Object result = call(ignoring, method);

        if (method.getReturnType() != void.class) {
            assertThat(result).isNotNull();
        }
        if (method.getReturnType() == boolean.class) {
            assertThat(result).isEqualTo(false);
        }
    }

    /** But those of nodes and of all topics, which are none, and a cancel after the commit, which logs that it has failed. */
    @ParameterizedTest
    @MethodSource("methods")
    void failsEachCallOfTheTemplateAndOfMessages(Method method) {
        boolean isAboutMessages = (method.getDeclaringClass() == DelayQueueTemplate.class
                        && !method.getName().equals("cancelAfterCommit"))
                || (method.getDeclaringClass() == DelayQueueAdmin.class
                        && !Arrays.equals(method.getParameterTypes(), new Class<?>[] {String.class}))
                || List.of("stats", "groups", "job", "stopJob", "resumeJob", "jobs")
                        .contains(method.getName());
        if (isAboutMessages) {
            Throwable thrown = catchThrowable(() -> call(failing, method));
            boolean isOfBatch = thrown instanceof BatchSendException;
            assertThat(isOfBatch ? thrown.getCause() : thrown).isInstanceOf(DelayQueueDisabledException.class);
        }
    }

    @Test
    void aJobIsDoneAtOnceAndHasMovedNothing() {
        Job job = ignoring.admin().redriveAll("orders", 10);

        assertThat(job.state()).isEqualTo(Job.State.DONE);
        assertThat(job.done()).isZero();
        assertThat(ignoring.admin().job(job.id()).orElseThrow().state()).isEqualTo(Job.State.DONE);
        for (int i = 0; i < 200; i++) {
            ignoring.admin().redriveAll("orders", 10);
        }
        assertThat(ignoring.admin().jobs()).hasSize(100).extracting(Job::id).doesNotContain(job.id());
    }

    @Test
    void aSendThatWaitsForReplicasIsStoredOnAllOfThem() {
        assertThat(ignoring.template().send(OutgoingMessage.of("orders", "x").waitForReplicas(2)))
                .satisfies(result -> {
                    assertThat(result.outcome()).isEqualTo(SendOutcome.STORED);
                    assertThat(result.isUnderReplicated()).isFalse();
                });
    }
}
