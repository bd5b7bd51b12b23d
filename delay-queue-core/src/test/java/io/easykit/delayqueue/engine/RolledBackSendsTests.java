package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.engine.FaultyStore.Fault;
import io.easykit.delayqueue.store.Claim;
import io.easykit.delayqueue.store.NewMessage;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.DueTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** What becomes of stored messages when the commit of their transaction fails. */
class RolledBackSendsTests {

    private final TestTransactions transactions = new TestTransactions();
    private final TestQueue queue = new TestQueue(builder -> builder.transactions(transactions));
    private final Logger logger = (Logger) LoggerFactory.getLogger(RolledBackSends.class);
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();

    @BeforeEach
    void listen() {
        log.start();
        logger.addAppender(log);
    }

    @AfterEach
    void close() {
        queue.engine.close();
        logger.detachAppender(log);
    }

    @Test
    void warnsOfAMessageThatAConsumerHas() {
        transactions.begin();
        queue.send("fast", Duration.ZERO);
        transactions.beginCommit();
        queue.time.advance(Duration.ofSeconds(1));
        queue.memory.claim(new ShardKey(TOPIC, 0), new Claim("other", 1, 1, 1, Duration.ofMinutes(1), List.of()));
        transactions.rollback();

        assertThat(warnings()).singleElement().asString().contains("[fast]", "were delivered although");
    }

    @Test
    void warnsOfAMessageThatHasRun() {
        transactions.begin();
        queue.send("fast", Duration.ZERO);
        queue.send("slow", Duration.ofHours(1));
        transactions.beginCommit();
        queue.start(listener(), message -> {});
        queue.time.advance(Duration.ofSeconds(1));
        transactions.rollback();

        assertThat(queue.runIds()).containsExactly("fast");
        assertThat(warnings()).singleElement().asString().contains("[fast]", "were delivered although");
        assertThat(queue.stats().waiting()).isZero();
    }

    @Test
    void saysNothingOfMessagesThatWereNeverStored() {
        queue.send("duplicate", Duration.ofHours(1));
        transactions.begin();
        queue.send("duplicate", Duration.ofHours(1));
        transactions.failCommit();
        transactions.begin();
        queue.send("lost", Duration.ofHours(1));
        queue.line.once("send", Fault.LOST_REQUEST);
        assertThatThrownBy(transactions::commit).isInstanceOf(StoreUnavailableException.class);
        transactions.rollback();

        assertThat(warnings()).isEmpty();
        assertThat(queue.stats().waiting()).isEqualTo(1);
    }

    @Test
    void cancelsTheMessagesOfAllShardsAfterAThreadThatCouldNotBeMade() {
        AtomicInteger errors = new AtomicInteger(1);
        RolledBackSends rolledBack = new RolledBackSends(queue.line.asStore(), queue.node::nanos, task -> {
            if (errors.getAndDecrement() > 0) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            Thread thread = new Thread(task, "rollback");
            thread.setDaemon(true);
            return thread;
        });
        queue.line.away();
        rolledBack.cancel(List.of(doubtful(0), doubtful(1)));
        rolledBack.cancel(List.of(doubtful(2)));
        queue.line.takeCalls();
        queue.line.heal();

        List<String> calls = new ArrayList<>();
        await().until(() -> {
            calls.addAll(queue.line.takeCalls());
            return Collections.frequency(calls, "cancel") >= 3;
        });
        rolledBack.close();
        assertThat(warnings()).isEmpty();
    }

    private static PreparedMessage doubtful(int shard) {
        NewMessage message = new NewMessage("a", DueTime.after(Duration.ZERO), Bytes.of(new byte[1]));
        PreparedMessage prepared = new PreparedMessage(new ShardKey(TOPIC, shard), message, 1, Duration.ZERO, null);
        prepared.doubt();
        return prepared;
    }

    @Test
    void saysNothingOfMessagesThatACallWithoutAnAnswerHasCancelled() {
        failWith("a", Fault.LOST_REPLY);
        assertThat(queue.stats().counters().cancelled()).isEqualTo(1);
        await().until(() -> queue.line.takeCalls().contains("cancel"));

        // The background does one thing after the other: when this is done, so is that.
        failWith("b", Fault.LOST_REQUEST);
        await().until(() -> queue.stats().counters().cancelled() == 2);
        assertThat(warnings()).isEmpty();
    }

    @Test
    void lastsForOneCallThatIsNotAnswered() {
        failInAnOutage(1_000);

        assertThat(queue.line.takeCalls()).containsExactly("cancel");
        queue.line.heal();
        await().until(() -> queue.stats().counters().cancelled() == 1_000);
    }

    @Test
    void keepsNoMoreThanABoundedNumberDuringAnOutage() {
        failInAnOutage(RolledBackSends.MOST_WAITING + 150);
        assertThat(warnings()).hasSize(2).first().asString().contains("100 messages", "10000 others wait");

        queue.line.heal();

        await().until(() -> queue.stats().counters().cancelled() == RolledBackSends.MOST_WAITING);
        assertThat(queue.stats().waiting()).isEqualTo(150);
    }

    @Test
    void warnsOfWhatStillWaitsWhenItIsClosed() {
        failInAnOutage(150);
        assertThat(warnings()).isEmpty();

        queue.engine.close();

        assertThat(warnings()).hasSize(2).last().asString().contains("50 messages", "the application ends");
        failInAnOutage(1);
        assertThat(warnings()).hasSize(3);
    }

    private void failWith(String id, Fault faultOfTheCancel) {
        transactions.begin();
        queue.send(id, Duration.ofHours(1));
        queue.line.once("cancel", faultOfTheCancel);
        transactions.failCommit();
        queue.line.takeCalls();
    }

    private void failInAnOutage(int messages) {
        transactions.begin();
        queue.engine
                .template()
                .sendAll(Collections.nCopies(
                        messages, OutgoingMessage.of(TOPIC, "x").after(Duration.ofHours(1))));
        queue.line.heal();
        transactions.beginCommit();
        queue.line.away();
        queue.line.takeCalls();
        transactions.rollback();
    }

    private List<String> warnings() {
        return List.copyOf(log.list).stream()
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }
}
