package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.admin.ErrorGroup;
import io.easykit.delayqueue.admin.ErrorGroups;
import io.easykit.delayqueue.admin.Job;
import io.easykit.delayqueue.admin.JobRequest;
import io.easykit.delayqueue.store.StoredJob;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Jobs as fields of text in the store. A field that is missing has its default, so that nodes of different versions can run
 * the same jobs. A field that is there and cannot be read is an error, because its default may select more messages. For the
 * same reason a version that adds a filter has to raise {@link #FORMAT}: older nodes do not run such jobs. Lists are lines of
 * URL-encoded words.
 */
final class JobText {

    private static final int FORMAT = 1;

    private JobText() {}

    static Map<String, String> encode(JobRequest request) {
        Map<String, String> fields = new HashMap<>();
        JobRequest.Filter filter = request.filter();
        fields.put("format", String.valueOf(FORMAT));
        fields.put("topic", request.topic());
        fields.put("action", word(request.action()));
        fields.put("olderThan", String.valueOf(filter.olderThan().toMillis()));
        fields.put("perSecond", String.valueOf(request.perSecond()));
        fields.put("stopAt", String.valueOf(request.stopAt()));
        fields.put("by", request.by());
        fields.put("note", request.note());
        putIfThere(fields, "group", filter.group());
        putIfThere(fields, "text", filter.text());
        Instant diedUntil = filter.diedUntil();
        putIfThere(fields, "diedUntil", diedUntil == null ? null : String.valueOf(diedUntil.toEpochMilli()));
        return fields;
    }

    private static void putIfThere(Map<String, String> fields, String name, @Nullable String value) {
        if (value != null) {
            fields.put(name, value);
        }
    }

    /** @throws IllegalArgumentException if it cannot be read, as that of a later version */
    static JobRequest request(Map<String, String> fields) {
        if (number(fields, "format", FORMAT) > FORMAT) {
            throw new IllegalArgumentException(
                    "A later version started this job. Run a node of that version, or stop the job.");
        }
        String topic = fields.getOrDefault("topic", "");
        JobRequest request =
                switch (JobRequest.Action.valueOf(
                        fields.getOrDefault("action", "").toUpperCase(Locale.ROOT))) {
                    case REDRIVE -> JobRequest.redrive(topic);
                    case PURGE -> JobRequest.purge(topic);
                    case GROUP -> JobRequest.group(topic);
                    case SEARCH -> JobRequest.search(topic, fields.getOrDefault("text", "?"));
                };
        return request.filter(new JobRequest.Filter(
                        fields.get("group"),
                        Duration.ofMillis(number(fields, "olderThan", 0)),
                        fields.get("text"),
                        fields.containsKey("diedUntil") ? Instant.ofEpochMilli(number(fields, "diedUntil", 0)) : null))
                .perSecond(Math.toIntExact(number(fields, "perSecond", Integer.MAX_VALUE)))
                .stopAt(Math.toIntExact(number(fields, "stopAt", Integer.MAX_VALUE)))
                .by(fields.getOrDefault("by", ""), fields.getOrDefault("note", ""));
    }

    static Job job(StoredJob stored) {
        Map<String, String> fields = stored.fields();
        String problem = fields.getOrDefault("problem", "");
        return new Job(
                stored.id(),
                request(fields),
                Job.State.valueOf(stored.state().toUpperCase(Locale.ROOT)),
                stored.created(),
                stored.updated(),
                stored.node(),
                number(fields, "total", 0),
                number(fields, "scanned", 0),
                number(fields, "matched", 0),
                number(fields, "done", 0),
                number(fields, "missed", 0),
                number(fields, "deaths", 0),
                problem.isEmpty() ? null : problem,
                list(fields.getOrDefault("groups", ""), JobText::count),
                list(fields.getOrDefault("matches", ""), JobText::death));
    }

    static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    static long number(Map<String, String> fields, String name, long otherwise) {
        String text = fields.getOrDefault(name, "");
        try {
            return text.isEmpty() ? otherwise : Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("Its field '" + name + "' is no number: " + text, e);
        }
    }

    static String groups(List<ErrorGroups.Count> counts) {
        return lines(
                counts,
                count -> List.of(
                        count.group().type(),
                        count.group().message(),
                        count.group().frame(),
                        String.valueOf(count.count()),
                        String.valueOf(count.first().toEpochMilli()),
                        String.valueOf(count.last().toEpochMilli()),
                        count.sample().id()));
    }

    private static ErrorGroups.Count count(List<String> words) {
        Instant first = Instant.ofEpochMilli(Long.parseLong(words.get(4)));
        return new ErrorGroups.Count(
                new ErrorGroup(words.get(0), words.get(1), words.get(2)),
                Long.parseLong(words.get(3)),
                first,
                Instant.ofEpochMilli(Long.parseLong(words.get(5))),
                new DeadLetterRef(words.get(6), first));
    }

    static String deaths(List<DeadLetterRef> deaths) {
        return lines(
                deaths,
                death -> List.of(death.id(), String.valueOf(death.diedAt().toEpochMilli())));
    }

    static List<DeadLetterRef> deaths(String text) {
        return list(text, JobText::death);
    }

    private static DeadLetterRef death(List<String> words) {
        return new DeadLetterRef(words.get(0), Instant.ofEpochMilli(Long.parseLong(words.get(1))));
    }

    private static <T> String lines(List<T> list, Function<T, List<String>> words) {
        List<String> lines = new ArrayList<>();
        for (T entry : list) {
            lines.add(String.join(
                    " ",
                    words.apply(entry).stream()
                            .map(word -> URLEncoder.encode(word, StandardCharsets.UTF_8))
                            .toList()));
        }
        return String.join("\n", lines);
    }

    private static <T> List<T> list(String text, Function<List<String>, T> entry) {
        return text.lines()
                .map(line -> List.of(line.split(" ", -1)))
                .map(words -> words.stream()
                        .map(word -> URLDecoder.decode(word, StandardCharsets.UTF_8))
                        .toList())
                .map(entry)
                .toList();
    }
}
