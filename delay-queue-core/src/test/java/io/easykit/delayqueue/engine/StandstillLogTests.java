package io.easykit.delayqueue.engine;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.TopicConflictException;
import io.easykit.delayqueue.store.ShardKey;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class StandstillLogTests {

    private final StoreUnavailableException away =
            new StoreUnavailableException("no answer", new IllegalStateException());
    private final StoreRefusedException forbidden = new StoreRefusedException("NOPERM", new IllegalStateException());

    private final AtomicLong clock = new AtomicLong();
    private final StandstillLog standstills = new StandstillLog(clock::get);
    private final Logger logger = (Logger) LoggerFactory.getLogger(StandstillLog.class);
    private final Level before = logger.getLevel();
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();

    @BeforeEach
    void listen() {
        logger.setLevel(Level.INFO);
        logger.setAdditive(false);
        logger.addAppender(log);
        log.start();
    }

    @AfterEach
    void leave() {
        logger.detachAppender(log);
        logger.setAdditive(true);
        logger.setLevel(before);
    }

    @Test
    void tellsOfAnOutageAndOfItsEndOnceHoweverManyNotice() {
        IntStream.range(0, 5).forEach(i -> lost(i, away));
        IntStream.range(0, 5).forEach(i -> lost(i, away));
        assertThat(said())
                .singleElement()
                .asString()
                .contains("of t0:0 is interrupted")
                .contains("no answer");

        pass(Duration.ofMinutes(1));
        IntStream.range(0, 5).forEach(this::found);
        assertThat(said())
                .containsExactly(
                        "The store answers again. Delivery of t0:0 has resumed; 4 others still wait",
                        "The store answers again. Delivery of t4:0 has resumed; 0 others still wait");
    }

    @Test
    void tellsOfEachShardThatIsRefusedWhenTheOutageIsOverOnce() {
        IntStream.range(0, 3).forEach(i -> lost(i, away));
        said();

        for (int second = 0; second < 3; second++) {
            found(0);
            lost(1, forbidden);
            lost(2, forbidden);
        }

        assertThat(said())
                .containsExactly(
                        "The store answers again. Delivery of t0:0 has resumed; 2 others still wait",
                        "Delivery of t1:0 has stopped until this is fixed, and is tried every second: NOPERM",
                        "Delivery of t2:0 has stopped until this is fixed, and is tried every second: NOPERM");
    }

    @Test
    void tellsOfTheNextOutageWhileAShardIsRefusedAndWhileAnotherNeverAnswers() {
        lost(0, forbidden);
        lost(1, away);
        assertThat(said()).hasSize(2);
        pass(Duration.ofHours(1));

        lost(2, away);
        lost(3, away);
        assertThat(said()).singleElement().asString().contains("of t2:0 is interrupted");

        pass(Duration.ofMinutes(1));
        found(2);
        found(3);
        assertThat(said()).singleElement().asString().contains("of t2:0 has resumed");
    }

    @Test
    void tellsThatARefusedShardGoesOnAndOfWhatIsRefusedNext() {
        lost(0, forbidden);
        lost(0, away);
        lost(0, forbidden);
        lost(0, new TopicConflictException("2 shards, not 1.", "Set 2."));
        found(0);
        lost(0, forbidden);

        assertThat(said())
                .extracting(line -> line.replaceAll(".*: ", ""))
                .containsExactly(
                        "NOPERM", "no answer", "2 shards, not 1. Set 2.", "Delivery of t0:0 has resumed", "NOPERM");
    }

    @Test
    void givesTheStackOfADefectOnly() {
        lost(0, forbidden);
        lost(1, new IllegalStateException("a defect"));

        assertThat(log.list)
                .extracting(event -> event.getThrowableProxy() != null)
                .containsExactly(false, true);
    }

    private void lost(int consumer, RuntimeException e) {
        standstills.lost(consumer, new ShardKey("t" + consumer, 0), e);
    }

    private void found(int consumer) {
        standstills.found(consumer, new ShardKey("t" + consumer, 0));
    }

    private void pass(Duration time) {
        clock.addAndGet(time.toNanos());
    }

    /** The lines since the last call. */
    private List<String> said() {
        List<String> lines =
                log.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
        log.list.clear();
        return lines;
    }
}
