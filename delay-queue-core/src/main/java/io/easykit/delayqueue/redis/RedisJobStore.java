package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.store.JobStore;
import io.easykit.delayqueue.store.StoredJob;
import io.easykit.redis.ListReply;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Jobs in Redis. All their keys have the tag {@code console}. */
final class RedisJobStore implements JobStore {

    private final ShardScripts scripts;

    /** Names of the values of a job, before its fields. */
    enum JobReply {
        ID
    }

    enum JobField {
        NAME,
        VALUE
    }

    enum RunningReply {
        OTHERS,
        FREE
    }

    RedisJobStore(ShardScripts scripts) {
        this.scripts = scripts;
    }

    @Override
    public Instant create(String id, String lock, Map<String, String> fields) {
        Arguments arguments = new Arguments().add(id).add(lock);
        return Instant.ofEpochMilli(scripts.consoleNumber(QueueScript.JOB_CREATE, with(arguments, fields)));
    }

    @Override
    public Optional<StoredJob> find(String id) {
        return id.isEmpty() ? Optional.empty() : read(id).stream().findFirst();
    }

    @Override
    public List<StoredJob> list() {
        return read("").stream()
                .sorted(Comparator.comparing(StoredJob::updated).reversed())
                .toList();
    }

    @Override
    public Running running() {
        List<?> list = scripts.consoleList(QueueScript.JOB_RUNNING, new Arguments());
        ListReply reply = ListReply.of(QueueScript.JOB_RUNNING.file(), list, RunningReply.class);
        return new Running(reply.texts(RunningReply.FREE), reply.count(RunningReply.OTHERS));
    }

    private List<StoredJob> read(String id) {
        return scripts.consoleList(QueueScript.JOB_LIST, new Arguments().add(id)).stream()
                .map(job -> job((List<?>) Objects.requireNonNull(job)))
                .toList();
    }

    private static StoredJob job(List<?> list) {
        ListReply reply = ListReply.of(QueueScript.JOB_LIST.file(), list, JobReply.class);
        Map<String, String> fields = new HashMap<>();
        for (ListReply field : reply.groups(JobField.class)) {
            fields.put(field.text(JobField.NAME), field.text(JobField.VALUE));
        }
        return new StoredJob(
                reply.text(JobReply.ID),
                String.valueOf(fields.get("state")),
                fields.containsKey("taken"),
                instant(fields.get("created")),
                instant(fields.get("updated")),
                fields.get("node"),
                fields);
    }

    private static Instant instant(@Nullable String millis) {
        boolean isNumber = millis != null && millis.matches("\\d{1,15}");
        return isNumber ? Instant.ofEpochMilli(Long.parseLong(millis)) : Instant.EPOCH;
    }

    @Override
    public boolean take(String id, String owner) {
        return scripts.consoleNumber(
                        QueueScript.JOB_TAKE, new Arguments().add(id).add(owner).add(LOCK))
                == 1;
    }

    @Override
    public Saved save(String id, String owner, String state, Map<String, String> fields) {
        Arguments arguments = new Arguments().add(id).add(owner).add(state).add(LOCK);
        return switch ((int) scripts.consoleNumber(QueueScript.JOB_SAVE, with(arguments, fields))) {
            case 1 -> Saved.GO_ON;
            case 2 -> Saved.STOPPED;
            default -> Saved.LOST;
        };
    }

    @Override
    public boolean stop(String id) {
        return request(id, "stop");
    }

    @Override
    public boolean resume(String id) {
        return request(id, "continue");
    }

    private boolean request(String id, String request) {
        return scripts.consoleNumber(
                        QueueScript.JOB_REQUEST, new Arguments().add(id).add(request))
                == 1;
    }

    private static Arguments with(Arguments arguments, Map<String, String> fields) {
        fields.forEach((field, value) -> arguments.add(field).add(value));
        return arguments;
    }
}
