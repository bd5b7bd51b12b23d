package io.easykit.cache.engine;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** Records the log events of a logger. */
public final class LogCapture implements AutoCloseable {

    private final Logger logger;
    private final @Nullable Level before;
    private final ListAppender<ILoggingEvent> appender = new ListAppender<>();

    private LogCapture(String name) {
        this.logger = (Logger) LoggerFactory.getLogger(name);
        this.before = logger.getLevel();
        if (!logger.isInfoEnabled()) {
            logger.setLevel(Level.INFO);
        }
        appender.start();
        logger.addAppender(appender);
    }

    static LogCapture of(Class<?> type) {
        return of(type.getName());
    }

    public static LogCapture of(String name) {
        return new LogCapture(name);
    }

    /** Captures lines of level DEBUG too. */
    public LogCapture withDebugs() {
        logger.setLevel(Level.DEBUG);
        return this;
    }

    public List<String> debugs() {
        return at(Level.DEBUG);
    }

    public List<String> errors() {
        return at(Level.ERROR);
    }

    public List<String> warnings() {
        return at(Level.WARN);
    }

    public List<String> infos() {
        return at(Level.INFO);
    }

    private List<String> at(Level level) {
        return List.copyOf(appender.list).stream()
                .filter(event -> event.getLevel() == level)
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }

    @Override
    public void close() {
        logger.detachAppender(appender);
        logger.setLevel(before);
    }
}
