package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.support.LogText;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns of the sends and cancels of a transaction whose outcome is unknown. Stored messages stay: to cancel them could lose
 * messages of a committed transaction. Nothing else is sent or cancelled, because the transaction may have rolled back.
 */
final class UnknownOutcome {

    private static final Logger log = LoggerFactory.getLogger(UnknownOutcome.class);

    private static final String STORED =
            "{} messages of {} stay stored, and are delivered even if their transaction rolled"
                    + " back, because its outcome is unknown: {}. Look at its data, and cancel them if it rolled back.";

    private static final String NOT_SENT =
            "{} messages of {} were not sent, because the outcome of their transaction is"
                    + " unknown: {}. Look at its data, and send them if it committed.";

    private static final String NOT_CANCELLED =
            "{} messages of {} were not cancelled, because the outcome of the transaction"
                    + " is unknown: {}. Look at its data, and cancel them if it committed.";

    private UnknownOutcome() {}

    /**
     * Logs one line for each topic and kind.
     *
     * @param messages stored ones, and those that were to be stored after the commit
     * @param cancels  topic and id of each message that was to be cancelled after the commit
     */
    static void warn(List<PreparedMessage> messages, List<Map.Entry<String, String>> cancels) {
        warn(STORED, messages.stream().filter(PreparedMessage::mayBeStored).map(UnknownOutcome::name));
        warn(
                NOT_SENT,
                messages.stream().filter(message -> !message.mayBeStored()).map(UnknownOutcome::name));
        warn(NOT_CANCELLED, cancels.stream());
    }

    private static Map.Entry<String, String> name(PreparedMessage message) {
        return Map.entry(message.shard().topic(), message.id());
    }

    private static void warn(String line, Stream<Map.Entry<String, String>> messages) {
        messages.collect(Collectors.groupingBy(
                        Map.Entry::getKey,
                        LinkedHashMap::new,
                        Collectors.mapping(Map.Entry::getValue, Collectors.toList())))
                .forEach((topic, ids) -> log.warn(line, ids.size(), topic, LogText.list(ids)));
    }
}
