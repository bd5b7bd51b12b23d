package io.easykit.delayqueue.listener;

import io.easykit.boot.DurationTexts;
import io.easykit.delayqueue.DeadLetter;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.annotation.DelayListener;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.core.env.Environment;

/**
 * The attributes of an annotation, with resolved placeholders and parsed values.
 *
 * @param batchSize null for a method that takes one message per call
 * @param deadLettersOf topic whose dead letters the method gets, or null
 * @param errorHandler name of a bean, or null for that of all listeners
 */
record ListenerAttributes(
        String id,
        String topic,
        @Nullable Integer batchSize,
        TopicSettings settings,
        @Nullable String errorHandler,
        @Nullable String deadLettersOf) {

    /**
     * Reads an annotation.
     *
     * @throws InvalidDelayListenerException if an attribute cannot be read
     */
    static ListenerAttributes of(ListenerMethod where, DelayListener annotation, Environment environment) {
        Reader reader = new Reader(where, new Placeholders(where, environment));
        String named = reader.text("topic", annotation.topic());
        if (named == null) {
            throw where.problem("its topic is empty", "Name the topic.");
        }
        String topic = annotation.deadLetters() ? DeadLetter.topicOf(named) : named;
        String id = reader.text("id", annotation.id());
        TopicSettings.BackOff backOff = new TopicSettings.BackOff(
                reader.duration("backOff", annotation.backOff()),
                reader.decimal("backOffMultiplier", annotation.backOffMultiplier()),
                reader.duration("backOffMax", annotation.backOffMax()),
                reader.decimal("backOffJitter", annotation.backOffJitter()));
        TopicSettings settings = new TopicSettings(
                null,
                reader.number("concurrency", annotation.concurrency()),
                reader.duration("lease", annotation.lease()),
                reader.number("maxAttempts", annotation.maxAttempts()),
                reader.number("maxLeaseExpirations", annotation.maxLeaseExpirations()),
                null,
                backOff,
                annotation.noRetryFor().length == 0 ? null : List.of(annotation.noRetryFor()),
                null,
                null,
                null,
                annotation.idempotent() ? true : null,
                null,
                null,
                null,
                null,
                null);
        return new ListenerAttributes(
                id == null ? topic : id,
                topic,
                reader.number("batchSize", annotation.batchSize()),
                settings,
                reader.text("errorHandler", annotation.errorHandler()),
                annotation.deadLetters() ? named : null);
    }

    /** Begins the endpoint. */
    ListenerEndpoint.Builder endpoint(Type payloadType) {
        return deadLettersOf == null
                ? ListenerEndpoint.builder(id, topic, payloadType)
                : ListenerEndpoint.deadLetters(id, deadLettersOf, payloadType);
    }

    /** Returns the signature of the method, which takes messages or dead letters. */
    ListenerSignature signature(ListenerMethod where, Environment environment) {
        ListenerSignature signature = batchSize == null
                ? ListenerSignature.single(where, new Placeholders(where, environment))
                : ListenerSignature.batch(where);
        return deadLettersOf == null
                ? DeadLetterSignature.refused(where, signature)
                : DeadLetterSignature.of(where, signature);
    }

    private record Reader(ListenerMethod where, Placeholders placeholders) {

        @Nullable String text(String attribute, String value) {
            String text = placeholders.resolve(attribute, value).strip();
            return text.isEmpty() ? null : text;
        }

        @Nullable Integer number(String attribute, String value) {
            return read(attribute, value, Integer::valueOf, "a whole number, for example 5");
        }

        @Nullable Double decimal(String attribute, String value) {
            return read(attribute, value, Double::valueOf, "a number, for example 1.5");
        }

        @Nullable Duration duration(String attribute, String value) {
            return read(attribute, value, DurationTexts::parse, "a duration with its unit, for example 30s or 1500ms");
        }

        private <T> @Nullable T read(String attribute, String value, Function<String, T> parser, String expected) {
            String text = text(attribute, value);
            try {
                return text == null ? null : parser.apply(text);
            } catch (IllegalArgumentException e) {
                throw where.problem(
                        attribute + " is '" + text + "', which cannot be read", "Give " + expected + ".", e);
            }
        }
    }
}
