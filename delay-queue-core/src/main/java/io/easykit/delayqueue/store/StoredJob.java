package io.easykit.delayqueue.store;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A job of the administration as it is stored.
 *
 * @param state   {@code running}, {@code stopped}, {@code done}, or another word of the engine for a job that has ended
 * @param taken   whether a node holds the lock for it
 * @param created when it was stored
 * @param updated when its state or its progress was stored last
 * @param node    owner that took it last, or null
 * @param fields  request and progress, as the engine has encoded them
 */
public record StoredJob(
        String id,
        String state,
        boolean taken,
        Instant created,
        Instant updated,
        @Nullable String node,
        Map<String, String> fields) {

    public static final String RUNNING = "running";
    public static final String STOPPED = "stopped";

    public StoredJob {
        fields = Map.copyOf(fields);
    }

    public boolean isRunning() {
        return state.equals(RUNNING);
    }

    /** Whether the last stored progress was answered with {@link JobStore.Saved#STOPPED}, and so nothing was done after it. */
    public boolean isHalted() {
        return "1".equals(fields.get("halted"));
    }
}
