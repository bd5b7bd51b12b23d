package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.support.LogText;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands back messages of a later version, as they come during a rolling deploy, so that a node of that version runs them. They
 * cost no attempt and never die of it. The delay doubles with each hand-back, so that old nodes do not pass them around.
 */
final class NewerFrames {

    private static final Logger log = LoggerFactory.getLogger(NewerFrames.class);

    private static final Duration FIRST = Duration.ofSeconds(1);
    private static final Duration LONGEST = Duration.ofMinutes(5);

    private final ListenerEndpoint endpoint;
    private final Set<String> warned = ConcurrentHashMap.newKeySet();

    NewerFrames(ListenerEndpoint endpoint) {
        this.endpoint = endpoint;
    }

    void release(InFlightMessage message, NewerFrameException e) {
        Duration doubled = FIRST.multipliedBy(1L << Math.min(message.delivery.releases(), 10));
        message.release(doubled.compareTo(LONGEST) < 0 ? doubled : LONGEST);
        if (warned.add(String.valueOf(e.getMessage()))) {
            log.warn(
                    "Messages of topic {}, such as {}, are handed back with a delay until a node of a later version runs them:"
                            + " {} This warning is not repeated.",
                    endpoint.topic(),
                    LogText.of(message.id()),
                    e.getMessage());
        }
    }
}
