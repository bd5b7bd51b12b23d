package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.admin.ActionLog;
import io.easykit.redis.ListReply;
import java.util.List;

/** The actions of operators in Redis, in the slot of the administration. */
final class RedisActionLog implements ActionLog {

    private final ShardScripts scripts;

    /** No values stand before the entries. */
    enum ActionsReply {}

    enum ActionField {
        ENTRY
    }

    RedisActionLog(ShardScripts scripts) {
        this.scripts = scripts;
    }

    @Override
    public void add(String entry, int most) {
        scripts.consoleNumber(
                QueueScript.NOTE_ACTION, new Arguments().add(entry).add(most));
    }

    @Override
    public List<String> read(long skip, int count) {
        List<?> list = scripts.consoleList(
                QueueScript.ACTIONS, new Arguments().add(skip).add(count));
        return ListReply.of(QueueScript.ACTIONS.file(), list, ActionsReply.class).groups(ActionField.class).stream()
                .map(entry -> entry.text(ActionField.ENTRY))
                .toList();
    }
}
