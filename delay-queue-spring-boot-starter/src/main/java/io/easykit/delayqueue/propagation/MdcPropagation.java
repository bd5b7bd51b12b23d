package io.easykit.delayqueue.propagation;

import io.easykit.delayqueue.DelayListenerInterceptor;
import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageHandler;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.SendInterceptor;
import io.easykit.delayqueue.SendResult;
import io.easykit.delayqueue.support.NameRules;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * Copies entries of the MDC from the thread that sends to the thread that handles, in headers. Only the keys that are given,
 * on both sides: other entries may be secret, and a sender decides about no other entry of the log.
 */
public final class MdcPropagation implements SendInterceptor, DelayListenerInterceptor {

    /** Start of the names of the headers. */
    public static final String PREFIX = "mdc.";

    /** Longest value. A longer one is left out, because a part of it would be wrong. */
    static final int MAX_LENGTH = 1_000;

    private final List<String> keys;

    public MdcPropagation(List<String> keys) {
        this.keys = List.copyOf(keys);
    }

    @Override
    public List<SendResult> send(
            List<OutgoingMessage> messages, Function<List<OutgoingMessage>, List<SendResult>> send) {
        Map<String, String> headers = headers();
        return send.apply(
                headers.isEmpty()
                        ? messages
                        : messages.stream()
                                .map(message -> withHeaders(message, headers))
                                .toList());
    }

    private Map<String, String> headers() {
        Map<String, String> headers = new LinkedHashMap<>();
        for (String key : keys) {
            String value = MDC.get(key);
            if (value != null && value.length() <= MAX_LENGTH && NameRules.isWellFormed(value)) {
                headers.put(PREFIX + key, value);
            }
        }
        return headers;
    }

    /** A header that the application has set stays. */
    private static OutgoingMessage withHeaders(OutgoingMessage message, Map<String, String> headers) {
        OutgoingMessage more = message;
        for (Map.Entry<String, String> header : headers.entrySet()) {
            if (!message.headers().containsKey(header.getKey())) {
                more = more.header(header.getKey(), header.getValue());
            }
        }
        return more;
    }

    @Override
    public void handle(
            ListenerEndpoint endpoint, List<DelayMessage<Object>> messages, MessageHandler.Batch<Object> handler)
            throws Exception {
        Map<String, @Nullable String> before = new LinkedHashMap<>();
        keys.forEach(key -> before.put(key, MDC.get(key)));
        try {
            keys.forEach(key -> put(key, CommonHeaders.value(messages, PREFIX + key)));
            handler.handle(messages);
        } finally {
            before.forEach(MdcPropagation::put);
        }
    }

    private static void put(String key, @Nullable String value) {
        if (value == null) {
            MDC.remove(key);
        } else {
            MDC.put(key, value);
        }
    }
}
