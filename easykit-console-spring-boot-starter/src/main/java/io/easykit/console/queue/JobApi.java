package io.easykit.console.queue;

import io.easykit.console.Caller;
import io.easykit.console.ConsoleApi;
import io.easykit.console.ConsoleMeters;
import io.easykit.console.ConsoleRequest;
import io.easykit.console.EnglishText;
import io.easykit.console.Input;
import io.easykit.console.Refusal;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.FleetAdmin;
import io.easykit.delayqueue.admin.Job;
import io.easykit.delayqueue.admin.JobRequest;
import io.easykit.delayqueue.admin.JobRequest.Action;
import io.easykit.delayqueue.admin.JobRequest.Filter;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Jobs of the delay queue in the console: long work on dead letters, which any node shows, stops and continues. */
public final class JobApi implements ConsoleApi {

    private static final int ACCEPTED = 202;
    private static final int MAX_RATE = 1_000_000;

    private final DelayQueueAdmin admin;
    private final FleetAdmin fleet;
    private final ConsoleMeters meters;

    public JobApi(DelayQueueAdmin admin, FleetAdmin fleet, ConsoleMeters meters) {
        this.admin = admin;
        this.fleet = fleet;
        this.meters = meters;
    }

    @Override
    public Set<String> features() {
        return Set.of("jobs", "search");
    }

    @Override
    public Map<String, Read> reads() {
        return Map.of(
                "jobs", StoreErrors.explained((request, caller) -> jobs(request)),
                "job", StoreErrors.explained((request, caller) -> reply(found(request.required("id")))));
    }

    @Override
    public Map<String, Change> changes() {
        Map<String, Change> changes = new LinkedHashMap<>();
        changes.put("jobs", this::start);
        changes.put("jobs/stop", (input, caller) -> change(input, "stopped", admin::stopJob));
        changes.put("jobs/continue", (input, caller) -> change(input, "continued", admin::resumeJob));
        return StoreErrors.explained(changes);
    }

    private Map<String, Object> jobs(ConsoleRequest request) {
        String topic = request.parameter("topic");
        List<Map<String, Object>> jobs = admin.jobs().stream()
                .filter(job -> topic == null
                        || topic.isEmpty()
                        || job.request().topic().equals(topic))
                .map(JobApi::summary)
                .toList();
        return new LinkedHashMap<>(Map.of("jobs", jobs));
    }

    private Job found(String id) {
        return admin.job(id)
                .orElseThrow(() -> new Refusal(
                        404,
                        "There is no such job.",
                        "Jobs are kept for a day after their last change. The audit shows who started it."));
    }

    private Planned start(Input input, Caller caller) {
        JobRequest request = request(input, caller);
        return new Planned(request.topic(), List.of(), text(request), () -> {
            fleet.requireUsed(request.topic());
            Job job = admin.start(request);
            meters.count(ConsoleMeters.JOBS, word(request.action()), "started");
            Map<String, Object> reply = reply(job);
            reply.put("id", job.id());
            return new Done(ACCEPTED, reply, Map.of("job", job.id()));
        });
    }

    private Planned change(Input input, String outcome, Predicate<String> change) {
        String id = input.required("id");
        Job job = found(id);
        String action = word(job.request().action());
        return new Planned(job.request().topic(), List.of(), action + ", job " + id, () -> {
            if (!change.test(id)) {
                throw new Refusal(
                        409,
                        "The job is " + word(found(id).state()) + ", so it cannot be " + outcome + ".",
                        "Load the page again.");
            }
            meters.count(ConsoleMeters.JOBS, action, outcome);
            return new Done(200, reply(found(id)), Map.of("job", id));
        });
    }

    private static JobRequest request(Input input, Caller caller) {
        String topic = input.required("topic");
        Action action = action(input.required("action"));
        if (action == Action.PURGE) {
            input.requireConfirmed(topic, "topic");
        }
        Filter filter = filter(input, action);
        String note = input.text("note");
        JobRequest request =
                switch (action) {
                    case REDRIVE -> JobRequest.redrive(topic);
                    case PURGE -> JobRequest.purge(topic);
                    case GROUP -> JobRequest.group(topic);
                    case SEARCH -> JobRequest.search(topic, String.valueOf(filter.text()));
                };
        request = request.filter(filter).by(caller.name(), note == null ? "" : note);
        Integer rate = input.count("perSecond", MAX_RATE);
        Integer stopAt = input.count("stopAt", Integer.MAX_VALUE - 1);
        request = rate == null ? request : request.perSecond(rate);
        return stopAt == null ? request : request.stopAt(stopAt);
    }

    private static Action action(String word) {
        for (Action action : Action.values()) {
            if (word(action).equals(word)) {
                return action;
            }
        }
        throw new Refusal(400, "There is no such action of a job.", "Use redrive, purge, group or search.");
    }

    private static Filter filter(Input input, Action action) {
        Input select = input.object("select");
        String group = select == null ? null : select.text("group");
        String text = select == null ? null : select.text("text");
        text = text == null ? input.text("text") : text;
        boolean limits = group != null || text != null || (select != null && select.has("olderThan"));
        if (action == Action.SEARCH && text == null) {
            throw new Refusal(400, "A search has no text.", "Give select.text.");
        }
        boolean moves = action == Action.REDRIVE || action == Action.PURGE;
        if (moves && !limits && (select == null || !select.flag("all"))) {
            throw new Refusal(
                    400,
                    "The job does not say which dead letters it selects.",
                    "Give select: all, or one or more of group, olderThan and text.");
        }
        if (moves && limits && select != null && select.flag("all")) {
            throw new Refusal(400, "The job selects all dead letters and some of them.", "Leave out all, or the rest.");
        }
        return new Filter(
                group,
                select != null && select.has("olderThan")
                        ? Duration.ofMillis(select.number("olderThan"))
                        : Duration.ZERO,
                text,
                input.has("diedUntil") ? Instant.ofEpochMilli(input.number("diedUntil")) : null);
    }

    /** The request in words, for the audit. */
    private static String text(JobRequest request) {
        Filter filter = request.filter();
        StringBuilder text = new StringBuilder(word(request.action()));
        append(text, "group", filter.group());
        append(text, "text", filter.text());
        append(text, "older than", filter.olderThan().isZero() ? null : filter.olderThan());
        append(text, "died until", filter.diedUntil());
        if (limit(request.perSecond()) != null) {
            text.append(", ").append(request.perSecond()).append(" a second");
        }
        append(text, "stop at", limit(request.stopAt()));
        return text.toString();
    }

    private static void append(StringBuilder text, String name, @Nullable Object value) {
        if (value != null) {
            text.append(", ").append(name).append(' ').append(value);
        }
    }

    private static @Nullable Integer limit(int value) {
        return value == Integer.MAX_VALUE ? null : value;
    }

    private static Map<String, Object> reply(Job job) {
        Map<String, Object> one = summary(job);
        if (job.request().action() == Action.GROUP) {
            one.put("groups", MessageViews.groups(job.groups()));
        }
        if (job.request().action() == Action.SEARCH) {
            one.put(
                    "matches",
                    job.matches().stream()
                            .map(match -> Map.of(
                                    "id", match.id(), "at", match.diedAt().toEpochMilli()))
                            .toList());
        }
        return new LinkedHashMap<>(Map.of("job", one));
    }

    private static Map<String, Object> summary(Job job) {
        JobRequest request = job.request();
        Filter filter = request.filter();
        Map<String, @Nullable Object> one = new LinkedHashMap<>();
        one.put("id", job.id());
        one.put("topic", request.topic());
        one.put("action", word(request.action()));
        one.put("state", word(job.state()));
        one.put("startedAt", job.createdAt().toEpochMilli());
        one.put("updatedAt", job.updatedAt().toEpochMilli());
        one.put(
                "endedAt",
                job.state() == Job.State.RUNNING ? null : job.updatedAt().toEpochMilli());
        one.put("node", job.node());
        one.put("by", request.by());
        one.put("note", request.note());
        one.put("group", filter.group());
        one.put(
                "olderThan",
                filter.olderThan().isZero() ? null : filter.olderThan().toMillis());
        one.put("text", filter.text());
        Instant until = filter.diedUntil();
        one.put("diedUntil", until == null ? null : until.toEpochMilli());
        one.put("perSecond", limit(request.perSecond()));
        one.put("stopAt", limit(request.stopAt()));
        one.put("total", job.total());
        one.put("scanned", job.scanned());
        one.put("matched", job.matched());
        one.put("capped", isCapped(job));
        one.put("done", job.done());
        one.put("missed", job.missed());
        one.put("deaths", job.deaths());
        one.put("why", EnglishText.of(job.problem()));
        return one;
    }

    /** Whether a search has ended before it had read all dead letters. */
    private static boolean isCapped(Job job) {
        return job.request().action() == Action.SEARCH
                && job.state() == Job.State.DONE
                && job.matched() >= Job.MOST_MATCHES
                && job.scanned() < job.total();
    }

    private static String word(Action action) {
        return action.name().toLowerCase(Locale.ROOT);
    }

    private static String word(Job.State state) {
        return state == Job.State.LIMIT_REACHED ? "limit" : state.name().toLowerCase(Locale.ROOT);
    }
}
