package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.boot.BoundSettings;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.listener.TopicSettings;
import io.easykit.test.SettingsContract;
import java.util.Map;
import org.springframework.core.env.Environment;

class SettingsTests extends SettingsContract {

    SettingsTests() {
        super("delay-queue");
    }

    @Override
    protected Object bind(Environment environment) {
        BoundSettings<DelayQueueProperties> settings = DelayQueueStartCheck.bind(environment);
        assertThat(settings.problems()).isEmpty();
        return settings.value();
    }

    @Override
    protected void assertEngineDefaults(Object settings) {
        TopicSettings documented = ((DelayQueueProperties) settings).defaults();
        ListenerEndpoint endpoint =
                ListenerEndpoint.builder("id", "topic", String.class).build();
        RetryPolicy retry = endpoint.retry();

        assertThat(documented)
                .isEqualTo(new TopicSettings(
                        null,
                        endpoint.concurrency(),
                        endpoint.lease(),
                        retry.maxAttempts(),
                        endpoint.maxLeaseExpirations(),
                        endpoint.leaseExpiredDelay(),
                        new TopicSettings.BackOff(
                                retry.firstDelay(), retry.multiplier(), retry.maxDelay(), retry.jitter()),
                        null,
                        endpoint.deadLetterRetention(),
                        0,
                        ReplicaWait.DEFAULT_TIMEOUT,
                        false,
                        endpoint.deadKeyPolicy(),
                        null,
                        null,
                        null,
                        null));
    }

    @Override
    protected Map<String, String> examples() {
        return Map.ofEntries(
                Map.entry("delay-queue.webhook.url", "https://hooks.slack.com/services/T0/B0/secret"),
                Map.entry("delay-queue.webhook.body", "'{\"msgtype\": \"text\", \"text\": {\"content\": \"{text}\"}}'"),
                Map.entry("delay-queue.idempotency.transaction-manager", "ordersTransactionManager"),
                Map.entry("delay-queue.idempotency.platform", "postgresql"),
                Map.entry("delay-queue.propagation.mdc", "[tenant, requestId]"),
                Map.entry("delay-queue.outbox.enabled", "true"),
                Map.entry("delay-queue.outbox.platform", "postgresql"),
                Map.entry("delay-queue.topics", "{order-close: {concurrency: 8}}"),
                Map.entry("delay-queue.json.deserialization", "{fail-on-null-for-primitives: true}"),
                Map.entry("delay-queue.json.enums", "{read-unknown-enum-values-as-null: true}"),
                Map.entry("delay-queue.defaults.shards", "4"),
                Map.entry("delay-queue.defaults.no-retry-for", "[java.lang.IllegalArgumentException]"),
                Map.entry("delay-queue.defaults.dead-letter-retention", "30d"),
                Map.entry("delay-queue.defaults.rate", "50/s"),
                Map.entry("delay-queue.defaults.burst", "10"),
                Map.entry("delay-queue.defaults.max-in-flight", "20"),
                Map.entry("delay-queue.defaults.alerts.dead", "10"),
                Map.entry("delay-queue.defaults.alerts.due", "1000"),
                Map.entry("delay-queue.defaults.alerts.failing", "0.5"),
                Map.entry("delay-queue.defaults.alerts.no-consumer", "2m"),
                Map.entry("delay-queue.defaults.alerts.max-lateness", "1m"),
                Map.entry("delay-queue.defaults.alerts.waiting", "1000000"));
    }
}
