package io.easykit.trial;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.slf4j.LoggerFactory;

/** Log lines of both products, of all nodes together. */
final class Logs extends AppenderBase<ILoggingEvent> implements AutoCloseable {

    private static final List<Logger> LOGGERS = Stream.of("io.easykit", "easy-cache", "delay-queue")
            .map(name -> (Logger) LoggerFactory.getLogger(name))
            .toList();

    private final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();

    static Logs record() {
        Logs logs = new Logs();
        logs.start();
        LOGGERS.forEach(logger -> logger.addAppender(logs));
        return logs;
    }

    @Override
    protected void append(ILoggingEvent event) {
        if (event.getLevel().isGreaterOrEqual(Level.INFO)) {
            events.add(event);
        }
    }

    int lines() {
        return events.size();
    }

    int stackTraces() {
        return (int) events.stream()
                .filter(event -> event.getThrowableProxy() != null)
                .count();
    }

    @Override
    public void close() {
        LOGGERS.forEach(logger -> logger.detachAppender(this));
        stop();
    }
}
