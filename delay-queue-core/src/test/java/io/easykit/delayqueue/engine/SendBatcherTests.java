package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.awaitLatch;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.engine.PreparedMessage.Stored;
import io.easykit.delayqueue.store.NewMessage;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.Replicated;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.DueTime;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The first send is held on its way while others come. */
class SendBatcherTests {

    private static final ShardKey SHARD = new ShardKey("orders", 0);
    private static final Stored STORED = new Stored(SendOutcome.STORED, null);

    private final List<List<String>> calls = Collections.synchronizedList(new ArrayList<>());
    private final List<Object> shared = Collections.synchronizedList(new ArrayList<>());
    private final CountDownLatch firstMayGo = new CountDownLatch(1);
    private Function<List<NewMessage>, List<SendOutcome>> answer =
            messages -> Collections.nCopies(messages.size(), SendOutcome.STORED);
    private volatile Supplier<Duration> longestCall = () -> Duration.ofMinutes(1);
    private final SendBatcher groups = new SendBatcher(store(), wait -> longestCall.get());

    private final FutureTask<Stored> held = task(message("held", 1));

    @AfterEach
    void releaseAll() {
        firstMayGo.countDown();
    }

    @Test
    void goAtOnceWhenTheyMeetNoOther() {
        assertThat(groups.send(SHARD, message("a", 1), null)).isEqualTo(STORED);
        assertThat(groups.send(SHARD, message("b", 1), null)).isEqualTo(STORED);

        assertThat(calls).containsExactly(List.of("a"), List.of("b"));
    }

    @Test
    void goTogetherInTheNextCallWhenOneIsOnItsWay() throws Exception {
        answer = messages -> messages.stream()
                .map(message -> message.id().equals("2") ? SendOutcome.DUPLICATE : SendOutcome.STORED)
                .toList();
        sendHeld();
        List<FutureTask<Stored>> others =
                IntStream.range(0, 5).mapToObj(i -> sendBehind(i, 1)).toList();

        firstMayGo.countDown();

        assertThat(held.get(10, SECONDS)).isEqualTo(STORED);
        for (int i = 0; i < others.size(); i++) {
            assertThat(others.get(i).get(10, SECONDS))
                    .isEqualTo(i == 2 ? new Stored(SendOutcome.DUPLICATE, null) : STORED);
        }
        assertThat(calls).containsExactly(List.of("held"), List.of("0", "1", "2", "3", "4"));
        assertThat(shared).containsExactly(false, true);
    }

    /** A thread may be interrupted while it waits for its own messages only. */
    @Test
    void areNotSharedByTheListOfOneThread() {
        List<NewMessage> messages = List.of(message("a", 1), message("b", 1));

        groups.sendList(SHARD, messages, null);
        groups.sendList(SHARD, messages, ReplicaWait.of(1));

        assertThat(shared).containsExactly(false, false);
    }

    @Test
    void doNotWaitForAnotherShard() {
        sendHeld();

        assertThat(groups.send(new ShardKey("orders", 1), message("a", 1), null))
                .isEqualTo(STORED);
    }

    @Test
    void doNotWaitWhenTheyAreEnoughForACall() throws Exception {
        sendHeld();
        List<FutureTask<Stored>> others =
                IntStream.range(0, 99).mapToObj(i -> sendBehind(i, 1)).toList();

        assertThat(groups.send(SHARD, message("99", 1), null)).isEqualTo(STORED);

        for (FutureTask<Stored> other : others) {
            assertThat(other.get(10, SECONDS)).isEqualTo(STORED);
        }
        assertThat(held).isNotDone();
        assertThat(calls).extracting(List::size).containsExactly(1, 100);
        FutureTask<Stored> next = sendBehind(100, 1);
        firstMayGo.countDown();
        assertThat(next.get(10, SECONDS)).isEqualTo(STORED);
    }

    @Test
    void doNotWaitWhenTheyAreLong() throws Exception {
        sendHeld();
        FutureTask<Stored> behind = sendBehind(0, 40_000);

        assertThat(groups.send(SHARD, message("1", 40_000), null)).isEqualTo(STORED);
        assertThat(behind.get(10, SECONDS)).isEqualTo(STORED);
        assertThat(groups.send(SHARD, message("2", 70_000), null)).isEqualTo(STORED);

        assertThat(held).isNotDone();
        assertThat(calls).containsExactly(List.of("held"), List.of("1", "0"), List.of("2"));
    }

    @Test
    void doNotPayForANeighbourThatWasInterruptedBeforeTheCall() throws Exception {
        answer = messages -> {
            if (messages.get(0).id().equals("0")) {
                Thread.currentThread().interrupt();
                throw StoreUnavailableException.notCarriedOut("interrupted", new IllegalStateException());
            }
            return Collections.nCopies(messages.size(), SendOutcome.STORED);
        };
        sendHeld();
        List<FutureTask<Stored>> others =
                IntStream.range(0, 3).mapToObj(i -> sendBehind(i, 1)).toList();

        firstMayGo.countDown();

        assertThatThrownBy(() -> others.get(0).get(10, SECONDS)).hasCauseInstanceOf(StoreUnavailableException.class);
        assertThat(others.get(1).get(10, SECONDS)).isEqualTo(STORED);
        assertThat(others.get(2).get(10, SECONDS)).isEqualTo(STORED);
        assertThat(calls).containsExactly(List.of("held"), List.of("0", "1", "2"), List.of("1", "2"));
        assertThat(groups.send(SHARD, message("a", 1), null)).isEqualTo(STORED);
    }

    /** The store has carried out the call, and "1" has run and is gone: another send would run it twice. */
    @Test
    void areNotRepeatedAfterACallThatMayHaveBeenCarriedOut() throws Exception {
        answer = messages -> {
            if (messages.get(0).id().equals("0")) {
                Thread.currentThread().interrupt();
                throw new StoreUnavailableException("interrupted", new IllegalStateException());
            }
            return Collections.nCopies(messages.size(), SendOutcome.STORED);
        };
        sendHeld();
        List<FutureTask<Stored>> others =
                IntStream.range(0, 2).mapToObj(i -> sendBehind(i, 1)).toList();

        firstMayGo.countDown();

        for (FutureTask<Stored> other : others) {
            assertThatThrownBy(() -> other.get(10, SECONDS))
                    .cause()
                    .isInstanceOfSatisfying(StoreUnavailableException.class, e -> assertThat(e.isOutcomeUnknown())
                            .isTrue());
        }
        assertThat(calls).containsExactly(List.of("held"), List.of("0", "1"));
        assertThat(groups.send(SHARD, message("a", 1), null)).isEqualTo(STORED);
    }

    @Test
    void goOnBehindABatchWhoseThreadWasInterrupted() throws Exception {
        CountDownLatch isOnItsWay = new CountDownLatch(1);
        CountDownLatch mayFail = new CountDownLatch(1);
        answer = messages -> {
            if (messages.get(0).id().equals("0")) {
                isOnItsWay.countDown();
                awaitLatch(mayFail);
                Thread.currentThread().interrupt();
                throw new StoreUnavailableException("interrupted", new IllegalStateException());
            }
            return Collections.nCopies(messages.size(), SendOutcome.STORED);
        };
        sendHeld();
        FutureTask<Stored> leader = sendBehind(0, 1);
        firstMayGo.countDown();
        awaitLatch(isOnItsWay);
        FutureTask<Stored> behind = sendBehind(1, 1);

        mayFail.countDown();

        assertThatThrownBy(() -> leader.get(10, SECONDS)).hasCauseInstanceOf(StoreUnavailableException.class);
        assertThat(behind.get(10, SECONDS)).isEqualTo(STORED);
    }

    /** As when the reply cannot be read for lack of memory. */
    @Test
    void areNotRepeatedAfterAnErrorThatIsNoRefusal() {
        answer = messages -> {
            throw new OutOfMemoryError("no heap");
        };
        sendHeld();
        FutureTask<Stored> leader = sendBehind(0, 1);
        FutureTask<Stored> other = sendBehind(1, 1);

        firstMayGo.countDown();

        assertThatThrownBy(() -> leader.get(10, SECONDS)).hasCauseInstanceOf(OutOfMemoryError.class);
        assertThatThrownBy(() -> other.get(10, SECONDS))
                .cause()
                .isInstanceOfSatisfying(StoreUnavailableException.class, e -> assertThat(e.isOutcomeUnknown())
                        .isTrue());
        assertThat(calls).containsExactly(List.of("held"), List.of("0", "1"));
    }

    /** As when memory is too short to describe the failure to those that took part. */
    @Test
    void doNotWaitForEverIfTheFailureOfTheirCallCannotBeToldThem() throws Exception {
        AtomicBoolean isShort = new AtomicBoolean(true);
        IllegalStateException unprintable = new IllegalStateException() {
            @Override
            public String getMessage() {
                if (isShort.get()) {
                    throw new InternalError("no heap");
                }
                return "unprintable";
            }
        };
        answer = messages -> {
            if (isShort.get()) {
                throw unprintable;
            }
            return Collections.nCopies(messages.size(), SendOutcome.STORED);
        };
        sendHeld();
        FutureTask<Stored> leader = sendBehind(0, 1);
        FutureTask<Stored> other = sendBehind(1, 1);
        FutureTask<Stored> another = sendBehind(2, 1);

        firstMayGo.countDown();

        assertThatThrownBy(() -> leader.get(10, SECONDS)).isInstanceOf(ExecutionException.class);
        for (FutureTask<Stored> each : List.of(other, another)) {
            assertThatThrownBy(() -> each.get(10, SECONDS))
                    .cause()
                    .isInstanceOfSatisfying(StoreUnavailableException.class, e -> assertThat(e.isOutcomeUnknown())
                            .isTrue());
        }
        isShort.set(false);
        assertThat(groups.send(SHARD, message("a", 1), null)).isEqualTo(STORED);
    }

    /** A thread of a fork-join pool starts another one before it waits. */
    @Test
    void doNotWaitForEverForASendWhoseThreadCannotWait() throws Exception {
        AtomicBoolean hasThread = new AtomicBoolean();
        ForkJoinPool pool = new ForkJoinPool(
                1,
                own -> {
                    if (hasThread.getAndSet(true)) {
                        throw new Error("unable to create native thread");
                    }
                    return ForkJoinPool.defaultForkJoinWorkerThreadFactory.newThread(own);
                },
                null,
                false);
        sendHeld();
        Future<Stored> failing = pool.submit(() -> groups.send(SHARD, message("failing", 1), null));
        assertThatThrownBy(() -> failing.get(10, SECONDS)).hasRootCauseMessage("unable to create native thread");
        FutureTask<Stored> behind = sendBehind(0, 1);

        firstMayGo.countDown();

        assertThat(behind.get(10, SECONDS)).isEqualTo(STORED);
        await().until(() -> groups.routes() == 0);
        pool.shutdown();
    }

    @Test
    void leaveNothingBehindForEachTimeoutOfReplicas() throws Exception {
        for (int i = 1; i <= 10_000; i++) {
            groups.send(SHARD, message("a", 1), new ReplicaWait(1, Duration.ofMillis(i)));
        }
        assertThat(groups.routes()).isZero();

        sendHeld();
        FutureTask<Stored> behind = sendBehind(1, 1);
        assertThat(groups.routes()).isOne();
        firstMayGo.countDown();
        assertThat(behind.get(10, SECONDS)).isEqualTo(STORED);
        await().until(() -> groups.routes() == 0);
    }

    /** A send never joins a batch that was removed, because such a batch has no leader. */
    @Test
    void leaveNobodyBehindWhereBatchesComeAndGo() throws Exception {
        firstMayGo.countDown();
        List<FutureTask<Stored>> threads = IntStream.range(0, 8)
                .mapToObj(thread -> new FutureTask<>(() -> {
                    Stored last = STORED;
                    for (int i = 0; i < 5_000; i++) {
                        last = groups.send(SHARD, message("m", 1), null);
                    }
                    return last;
                }))
                .toList();
        threads.forEach(SendBatcherTests::start);

        for (FutureTask<Stored> thread : threads) {
            assertThat(thread.get(60, SECONDS)).isEqualTo(STORED);
        }
        assertThat(groups.routes()).isZero();
    }

    @Test
    void allFailWhenTheStoreDoesNotAnswerAndNoneWaitsForAnotherTimeout() {
        answer = messages -> {
            throw new StoreUnavailableException("no answer", new IllegalStateException());
        };
        sendHeld();
        FutureTask<Stored> behind = sendBehind(1, 1);

        firstMayGo.countDown();

        for (FutureTask<Stored> each : List.of(held, behind)) {
            assertThatThrownBy(() -> each.get(10, SECONDS))
                    .hasCauseInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("no answer");
        }
        assertThat(calls).containsExactly(List.of("held"));
        answer = messages -> List.of(SendOutcome.STORED);
        assertThat(groups.send(SHARD, message("a", 1), null)).isEqualTo(STORED);
    }

    @Test
    void doNotPayForARefusedNeighbour() throws Exception {
        answer = messages -> {
            if (messages.stream().anyMatch(message -> message.id().equals("1"))) {
                throw new StoreRefusedException("bad message", new IllegalStateException());
            }
            return Collections.nCopies(messages.size(), SendOutcome.STORED);
        };
        sendHeld();
        FutureTask<Stored> good = sendBehind(0, 1);
        FutureTask<Stored> bad = sendBehind(1, 1);
        FutureTask<Stored> alsoGood = sendBehind(2, 1);

        firstMayGo.countDown();

        assertThat(good.get(10, SECONDS)).isEqualTo(STORED);
        assertThat(alsoGood.get(10, SECONDS)).isEqualTo(STORED);
        assertThatThrownBy(() -> bad.get(10, SECONDS)).hasCauseInstanceOf(StoreRefusedException.class);
        assertThat(groups.send(SHARD, message("a", 1), null)).isEqualTo(STORED);
    }

    @Test
    void goAloneIfTheCallBeforeTheirsDoesNotReturn() throws Exception {
        sendHeld();
        longestCall = () -> Duration.ofMillis(1);
        FutureTask<Stored> behind = task(message("0", 1));
        FutureTask<Stored> another = task(message("1", 1));
        start(behind);
        start(another);

        assertThat(behind.get(10, SECONDS)).isEqualTo(STORED);
        assertThat(another.get(10, SECONDS)).isEqualTo(STORED);

        assertThat(calls)
                .containsExactlyInAnyOrder(List.of("held"), List.of("0"), List.of("1"))
                .startsWith(List.of("held"));
    }

    /** Its leader may have ended. */
    @Test
    void waitForNoLeaderOnceItHasNotReturnedInTime() throws Exception {
        sendHeld();
        longestCall = () -> Duration.ofMillis(1);
        FutureTask<Stored> behind = task(message("0", 1));
        start(behind);
        assertThat(behind.get(10, SECONDS)).isEqualTo(STORED);

        longestCall = () -> Duration.ofHours(1);
        FutureTask<Stored> next = task(message("1", 1));
        start(next);

        assertThat(next.get(10, SECONDS)).isEqualTo(STORED);
        assertThat(held).isNotDone();
        firstMayGo.countDown();
        assertThat(held.get(10, SECONDS)).isEqualTo(STORED);
        assertThat(groups.routes()).isZero();
    }

    /** It is not sent again either, when its leader turns out to have been interrupted before the call. */
    @Test
    void failWithAnUnknownOutcomeIfTheirOwnCallDoesNotReturn() throws Exception {
        CountDownLatch isOnItsWay = new CountDownLatch(1);
        CountDownLatch mayFail = new CountDownLatch(1);
        answer = messages -> {
            if (!messages.get(0).id().equals("0")) {
                return Collections.nCopies(messages.size(), SendOutcome.STORED);
            }
            isOnItsWay.countDown();
            awaitLatch(mayFail);
            Thread.currentThread().interrupt();
            throw StoreUnavailableException.notCarriedOut("interrupted", new IllegalStateException());
        };
        sendHeld();
        FutureTask<Stored> leader = sendBehind(0, 1);
        FutureTask<Stored> patient = sendBehind(1, 1);
        longestCall = () -> {
            awaitLatch(isOnItsWay);
            return Duration.ofMillis(1);
        };
        FutureTask<Stored> other = sendBehind(2, 1);

        firstMayGo.countDown();

        assertThatThrownBy(() -> other.get(10, SECONDS))
                .hasMessageContaining("did not return in time")
                .cause()
                .isInstanceOfSatisfying(StoreUnavailableException.class, e -> assertThat(e.isOutcomeUnknown())
                        .isTrue());
        mayFail.countDown();
        assertThatThrownBy(() -> leader.get(10, SECONDS)).hasCauseInstanceOf(StoreUnavailableException.class);
        assertThat(patient.get(10, SECONDS)).isEqualTo(STORED);
        assertThat(calls).containsExactly(List.of("held"), List.of("0", "1", "2"), List.of("1"));
    }

    @Test
    void waitAlthoughTheirThreadIsInterrupted() throws Exception {
        sendHeld();
        AtomicBoolean remainsInterrupted = new AtomicBoolean();
        FutureTask<Stored> behind = new FutureTask<>(() -> {
            Thread.currentThread().interrupt();
            Stored stored = groups.send(SHARD, message("0", 1), null);
            remainsInterrupted.set(Thread.currentThread().isInterrupted());
            return stored;
        });
        awaitWaiting(start(behind));
        FutureTask<Stored> other = sendBehind(1, 1);

        firstMayGo.countDown();

        assertThat(behind.get(10, SECONDS)).isEqualTo(STORED);
        assertThat(other.get(10, SECONDS)).isEqualTo(STORED);
        assertThat(remainsInterrupted).isTrue();
        assertThat(calls).containsExactly(List.of("held"), List.of("0", "1"));
    }

    private void sendHeld() {
        start(held);
        await().until(() -> !calls.isEmpty());
    }

    /** Returns when the send waits. */
    private FutureTask<Stored> sendBehind(int id, int bytes) {
        FutureTask<Stored> task = task(message(String.valueOf(id), bytes));
        awaitWaiting(start(task));
        return task;
    }

    private static void awaitWaiting(Thread thread) {
        await().pollInterval(Duration.ofMillis(1)).until(() -> thread.getState() == Thread.State.TIMED_WAITING);
    }

    private FutureTask<Stored> task(NewMessage message) {
        return new FutureTask<>(() -> groups.send(SHARD, message, null));
    }

    private static Thread start(FutureTask<Stored> task) {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static NewMessage message(String id, int bytes) {
        return new NewMessage(id, DueTime.after(Duration.ZERO), Bytes.of(new byte[bytes]));
    }

    private QueueBackend store() {
        return (QueueBackend) Proxy.newProxyInstance(
                QueueBackend.class.getClassLoader(),
                new Class<?>[] {QueueBackend.class},
                (proxy, method, arguments) -> {
                    @SuppressWarnings("unchecked")
                    List<NewMessage> messages = (List<NewMessage>) arguments[1];
                    calls.add(messages.stream().map(NewMessage::id).toList());
                    shared.add(arguments[arguments.length - 1]);
                    if (method.getName().equals("sendReplicated")) {
                        return new Replicated(List.of(SendOutcome.STORED), 1);
                    }
                    if (messages.get(0).id().equals("held")) {
                        assertThat(firstMayGo.await(10, SECONDS)).isTrue();
                    }
                    return answer.apply(messages);
                });
    }
}
