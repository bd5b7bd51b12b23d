package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.redis.Replies.DiagnoseReply;
import io.easykit.redis.ErrorReply;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * What to do about a script that Redis refused. Redis names neither the key of another type nor, before 7.0, the command that
 * the user may not run, so {@code diagnose.lua} finds out; at most once in ten seconds for the same refusal.
 */
final class Remedies {

    private static final long KEPT = TimeUnit.SECONDS.toNanos(10);
    private static final int MOST_KEPT = 1000;

    /** @param until by {@code System.nanoTime} */
    private record Known(String remedy, long until) {}

    private final Map<String, Known> known = new ConcurrentHashMap<>();
    private final String keyPattern;
    private final Function<RedisKeys.Slot, List<?>> diagnosis;

    /**
     * @param keyPattern of the keys that the user needs
     * @param diagnosis  calls the script
     */
    Remedies(String keyPattern, Function<RedisKeys.Slot, List<?>> diagnosis) {
        this.keyPattern = keyPattern;
        this.diagnosis = diagnosis;
    }

    /** Sentences to add to the refusal, or nothing. */
    String of(ErrorReply refusal, RedisKeys.Slot slot) {
        String key = slot.name() + " " + refusal.text();
        Known before = known.get(key);
        if (before != null && System.nanoTime() - before.until() < 0) {
            return before.remedy();
        }
        if (known.size() > MOST_KEPT) {
            known.clear();
        }
        String remedy = find(refusal, slot);
        known.put(key, new Known(remedy, System.nanoTime() + KEPT));
        return remedy;
    }

    private String find(ErrorReply refusal, RedisKeys.Slot slot) {
        String command = refusal.deniedCommand();
        if (command != null) {
            return grant(List.of(command));
        }
        if (refusal.isDeniedKey()) {
            return " Grant the user of this connection the keys ~" + keyPattern + " with ACL SETUSER.";
        }
        if (refusal.isDeniedCommand()) {
            return grant(Replies.diagnosed(diagnosis.apply(slot)).texts(DiagnoseReply.COMMANDS));
        }
        return refusal.isWrongType()
                ? wrongTypes(Replies.diagnosed(diagnosis.apply(slot)).texts(DiagnoseReply.KEYS_AND_TYPES))
                : "";
    }

    private static String grant(List<String> commands) {
        return commands.isEmpty()
                ? " Grant the user of this connection the documented permissions with ACL SETUSER."
                : " Grant the user of this connection +" + String.join(" +", commands) + " with ACL SETUSER.";
    }

    private static String wrongTypes(List<String> keysAndTypes) {
        List<String> wrong = new ArrayList<>();
        for (int i = 0; i < keysAndTypes.size(); i += 2) {
            wrong.add(" The key " + keysAndTypes.get(i) + " is not " + keysAndTypes.get(i + 1)
                    + ": something else wrote it. Rename or delete it.");
        }
        return String.join("", wrong);
    }
}
