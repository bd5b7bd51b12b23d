package io.easykit.console.queue;

import io.easykit.boot.DurationTexts;
import io.easykit.console.EnglishText;
import io.easykit.delayqueue.AlertLimits;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.PayloadCodec;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.support.Bytes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The listeners of this node: their settings, and whether they can read a body. */
public final class LocalListeners {

    private final Supplier<List<ListenerEndpoint>> endpoints;
    private final @Nullable PayloadCodec codec;
    private final SettingSource sources;

    /** Finds where the value of a setting comes from. */
    public interface SettingSource {

        /** Returns a name for people, or null if it is not known. */
        @Nullable String of(ListenerEndpoint endpoint, String setting);
    }

    /**
     * Creates a view of listeners.
     *
     * @param endpoints of the listeners of this node
     * @param codec     of their payloads, or null if it is not known
     */
    public LocalListeners(
            Supplier<List<ListenerEndpoint>> endpoints, @Nullable PayloadCodec codec, SettingSource sources) {
        this.endpoints = endpoints;
        this.codec = codec;
        this.sources = sources;
    }

    private List<ListenerEndpoint> of(String topic) {
        return endpoints.get().stream()
                .filter(endpoint -> endpoint.topic().equals(topic))
                .toList();
    }

    /** The limit of an alert in the unit of its value, or null if no listener of this node has it. */
    @Nullable Long limit(String topic, AlertLimits.Kind kind) {
        for (ListenerEndpoint endpoint : of(topic)) {
            AlertLimits limits = endpoint.alerts();
            Long limit =
                    switch (kind) {
                        case LATENESS -> millis(limits.maxLateness());
                        case DUE -> limits.due();
                        case DEAD -> limits.dead();
                        case WAITING -> limits.waiting();
                        case FAILING -> limits.failing() == null ? null : Math.round(limits.failing() * 100);
                        case NO_CONSUMER -> null;
                    };
            if (limit != null) {
                return limit;
            }
        }
        return null;
    }

    private static @Nullable Long millis(@Nullable Duration duration) {
        return duration == null ? null : duration.toMillis();
    }

    /** Settings in force of the listeners of a topic, or null if there is none on this node. */
    @Nullable List<Map<String, @Nullable Object>> settings(String topic) {
        List<Map<String, @Nullable Object>> rows = new ArrayList<>();
        for (ListenerEndpoint endpoint : of(topic)) {
            settings(endpoint).forEach((name, value) -> {
                Map<String, @Nullable Object> row = new LinkedHashMap<>();
                row.put("listener", endpoint.id());
                row.put("name", name);
                row.put("value", value);
                row.put("source", sources.of(endpoint, name));
                rows.add(row);
            });
        }
        return rows.isEmpty() ? null : rows;
    }

    /** Values by the names of the settings. */
    private static Map<String, String> settings(ListenerEndpoint endpoint) {
        Map<String, String> values = new LinkedHashMap<>();
        values.put("concurrency", String.valueOf(endpoint.concurrency()));
        values.put("lease", DurationTexts.text(endpoint.lease()));
        values.put("max-attempts", String.valueOf(endpoint.retry().maxAttempts()));
        values.put("back-off", backOff(endpoint.retry()));
        values.put("max-lease-expirations", String.valueOf(endpoint.maxLeaseExpirations()));
        values.put("lease-expired-delay", DurationTexts.text(endpoint.leaseExpiredDelay()));
        Duration retention = endpoint.deadLetterRetention();
        values.put("dead-letter-retention", retention == null ? "forever" : DurationTexts.text(retention));
        values.put(
                "no-retry-for",
                String.join(
                        ", ", endpoint.notRetried().stream().map(Class::getName).toList()));
        return values;
    }

    static String backOff(RetryPolicy retry) {
        String first = DurationTexts.text(retry.firstDelay());
        return retry.multiplier() == 1
                ? first
                : first + " × " + String.valueOf(retry.multiplier()).replaceFirst("\\.0$", "") + " up to "
                        + DurationTexts.text(retry.maxDelay());
    }

    /**
     * Whether the listeners of a topic on this node can read a body.
     *
     * @param says whether the error may be shown: it may quote values that are masked elsewhere
     * @return null if there is no such listener, or if its codec is not known
     */
    @Nullable Map<String, Object> readable(String topic, Bytes body, boolean says) {
        PayloadCodec decoder = codec;
        List<ListenerEndpoint> listeners = of(topic);
        if (decoder == null || listeners.isEmpty()) {
            return null;
        }
        for (ListenerEndpoint endpoint : listeners) {
            if (endpoint.deadLettersOf() != null) {
                // Its handler runs also if the payload cannot be read.
                continue;
            }
            try {
                decoder.decode(body, endpoint.type());
            } catch (Throwable unreadable) {
                if (unreadable instanceof VirtualMachineError broken && !(unreadable instanceof StackOverflowError)) {
                    throw broken;
                }
                String text = "It is no " + endpoint.type().getTypeName() + ".";
                return Map.of("ok", false, "text", new EnglishText(says ? text + " " + messageOf(unreadable) : text));
            }
        }
        return Map.of("ok", true);
    }

    /** The payload class may have made the exception, and its message as well. */
    private static String messageOf(Throwable unreadable) {
        try {
            return String.valueOf(unreadable.getMessage());
        } catch (Throwable own) {
            return unreadable.getClass().getName();
        }
    }
}
