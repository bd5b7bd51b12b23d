package io.easykit.delayqueue.autoconfigure;

import io.easykit.boot.AuditKeeper;
import io.easykit.delayqueue.admin.ActionLog;
import java.util.Map;
import org.springframework.core.env.Environment;
import tools.jackson.databind.json.JsonMapper;

/**
 * Keeps changes through the actuator endpoints of this node in the list of the console, which another node may serve. The
 * console of this node replaces it.
 */
final class ActionLogKeeper implements AuditKeeper {

    private static final String SIZE = "easykit.console.audit-size";

    /** A change has two lines. */
    private static final int LINES = 2;

    private final ActionLog actions;
    private final int most;
    private final JsonMapper json = JsonMapper.builder().build();

    ActionLogKeeper(ActionLog actions, Environment environment) {
        this.actions = actions;
        this.most = LINES * Math.min(environment.getProperty(SIZE, Integer.class, 1000), ActionLog.MAX_ENTRIES / LINES);
    }

    @Override
    public void keep(Map<String, Object> entry) {
        if (most > 0) {
            actions.add(json.writeValueAsString(entry), most);
        }
    }
}
