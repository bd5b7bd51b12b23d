package io.easykit.delayqueue.autoconfigure;

import io.easykit.boot.SettingChecks;
import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of the webhook that gets alerts.
 *
 * @param url Address that alerts are posted to as JSON, http or https. By default alerts are posted nowhere.
 * @param body JSON that is posted, in which {text}, {topic}, {kind}, {state}, {value}, {limit} and {application} are
 *     replaced. By default it is {"text": "{text}"}, which fits Slack.
 * @param timeout Maximum time to wait for a reply of the webhook, from 100ms to 1m.
 */
record WebhookSettings(@Nullable String url, @Nullable String body, @DefaultValue("5s") Duration timeout) {

    private static final String DEFAULT_BODY = "{\"text\": \"{text}\"}";
    private static final Duration SHORTEST = Duration.ofMillis(100);
    private static final Duration LONGEST = Duration.ofMinutes(1);
    private static final int LARGEST_PORT = 65_535;

    void check(SettingChecks checks) {
        checks.that(
                url == null || isAddress(url),
                "webhook.url",
                "no address of http or https",
                "Give one, for example https://hooks.slack.com/services/...");
        checks.that(
                body == null || AlertWebhook.isJson(body),
                "webhook.body",
                template(),
                "Give JSON with placeholders in quotes, for example {\"text\": \"{text}\"}.");
        checks.duration("webhook.timeout", timeout, SHORTEST, LONGEST, "100ms to 1m, for example 5s");
    }

    String template() {
        return body == null ? DEFAULT_BODY : body;
    }

    private static boolean isAddress(String text) {
        try {
            URI uri = URI.create(text);
            return ("http".equals(uri.getScheme()) || "https".equals(uri.getScheme()))
                    && uri.getHost() != null
                    && uri.getPort() <= LARGEST_PORT;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }
}
