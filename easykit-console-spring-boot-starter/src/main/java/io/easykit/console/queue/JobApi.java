package io.easykit.console.queue;

import io.easykit.boot.DurationTexts;
import io.easykit.boot.EnumWords;
import io.easykit.console.Caller;
import io.easykit.console.ConsoleApi;
import io.easykit.console.ConsoleMeters;
import io.easykit.console.ConsoleRequest;
import io.easykit.console.EnglishText;
import io.easykit.console.Input;
import io.easykit.console.Refusal;
import io.easykit.delayqueue.actuate.QueueViews;
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
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Jobs of the delay queue in the console: long work on dead letters, which any node shows, stops and continues. */
public final class JobApi implements ConsoleApi {

    private static final int ACCEPTED = 202;

    private final DelayQueueAdmin admin;
    private final FleetAdmin fleet;
    private final ConsoleMeters meters;
    private final QueueViews views = new QueueViews(Instant::toEpochMilli);

    public JobApi(DelayQueueAdmin admin, FleetAdmin fleet, ConsoleMeters meters) {
        this.admin = admin;
        this.fleet = fleet;
        this.meters = meters;
    }

    @Override
    public Set<String> features() {
        return Set.of("jobs", FOR_SEARCHES);
    }

    @Override
    public Map<String, Read> reads() {
        return Map.of(
                "jobs",
                StoreErrors.explained(this::jobs),
                "job",
                StoreErrors.explained((request, caller) -> reply(found(request.required("id")), caller)));
    }

    @Override
    public Map<String, Change> changes() {
        Map<String, Change> changes = new LinkedHashMap<>();
        changes.put("jobs", this::start);
        changes.put("jobs/stop", (input, caller) -> change(input, caller, "stopped", admin::stopJob));
        changes.put("jobs/continue", (input, caller) -> change(input, caller, "continued", admin::resumeJob));
        return StoreErrors.explained(changes);
    }

    private Map<String, Object> jobs(ConsoleRequest request, Caller caller) {
        String topic = request.parameter("topic");
        List<Map<String, Object>> jobs = admin.jobs().stream()
                .filter(job -> topic == null
                        || topic.isEmpty()
                        || job.request().topic().equals(topic))
                .map(job -> shown(views.job(job, caller.seesValues())))
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
            meters.count(ConsoleMeters.JOBS, EnumWords.of(request.action()), "started");
            return new Done(ACCEPTED, reply(job, caller), Map.of("jobId", job.id()));
        });
    }

    private Planned change(Input input, Caller caller, String outcome, Predicate<String> change) {
        String id = input.required("id");
        Job job = found(id);
        String action = EnumWords.of(job.request().action());
        return new Planned(job.request().topic(), List.of(), action + ", job " + id, () -> {
            if (!change.test(id)) {
                throw new Refusal(
                        409,
                        "The job is " + EnumWords.of(found(id).state()) + ", so it cannot be " + outcome + ".",
                        "Load the page again.");
            }
            meters.count(ConsoleMeters.JOBS, action, outcome);
            return new Done(200, reply(found(id), caller), Map.of("jobId", id));
        });
    }

    private static JobRequest request(Input input, Caller caller) {
        String topic = input.required("topic");
        Action action = action(input.required("action"));
        if (action == Action.PURGE) {
            input.requireConfirmed(topic, "topic");
        }
        Filter filter = filter(input, action);
        if (filter.text() != null && !caller.searches()) {
            // With one text after the other the values could be found out.
            throw new Refusal(
                    403,
                    "Nobody may select messages by a text: easykit.console.show-values is never.",
                    "Change this setting, or select by group.");
        }
        String note = input.text("note");
        JobRequest request =
                switch (action) {
                    case REDRIVE -> JobRequest.redrive(topic);
                    case PURGE -> JobRequest.purge(topic);
                    case GROUP -> JobRequest.group(topic);
                    case SEARCH -> JobRequest.search(topic, String.valueOf(filter.text()));
                };
        request = request.filter(filter).by(caller.name(), note == null ? "" : note);
        Integer stopAt = input.count("stopAt", Integer.MAX_VALUE - 1);
        request = withRate(request, input);
        return stopAt == null ? request : request.stopAt(stopAt);
    }

    private static JobRequest withRate(JobRequest request, Input input) {
        if (input.is("perSecond", QueueViews.UNLIMITED)) {
            return request.withoutLimit();
        }
        Integer rate = input.count("perSecond", QueueViews.MAX_RATE, QueueViews.UNLIMITED);
        return rate == null ? request : request.perSecond(rate);
    }

    private static Action action(String word) {
        Action action = EnumWords.find(Action.class, word);
        if (action == null) {
            throw new Refusal(400, "There is no such action of a job.", "Use redrive, purge, group or search.");
        }
        return action;
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
                select != null && select.has("olderThan") ? select.duration("olderThan") : Duration.ZERO,
                text,
                input.has("diedUntil") ? Instant.ofEpochMilli(input.number("diedUntil")) : null);
    }

    /** The request in words, for the audit. */
    private static String text(JobRequest request) {
        Filter filter = request.filter();
        StringBuilder text = new StringBuilder(EnumWords.of(request.action()));
        append(text, "group", filter.group());
        append(text, "older than", filter.olderThan().isZero() ? null : DurationTexts.text(filter.olderThan()));
        append(text, "died until", filter.diedUntil());
        if (QueueViews.limit(request.perSecond()) != null) {
            text.append(", ").append(request.perSecond()).append(" a second");
        }
        append(text, "stop at", QueueViews.limit(request.stopAt()));
        return filter.text() == null
                ? text.toString()
                : text.append(TEXT_OF_VALUES).append(filter.text()).toString();
    }

    private static void append(StringBuilder text, String name, @Nullable Object value) {
        if (value != null) {
            text.append(", ").append(name).append(' ').append(value);
        }
    }

    private Map<String, Object> reply(Job job, Caller caller) {
        return new LinkedHashMap<>(Map.of("job", shown(views.jobWithResult(job, caller.seesValues()))));
    }

    private static Map<String, Object> shown(Map<String, Object> job) {
        job.computeIfPresent("problem", (name, problem) -> new EnglishText(String.valueOf(problem)));
        return job;
    }
}
