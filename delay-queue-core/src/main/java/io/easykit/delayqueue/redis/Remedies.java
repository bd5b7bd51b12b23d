package io.easykit.delayqueue.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What to do about a script that Redis refused. Redis names neither the key of another type nor, before 7.0, the command that
 * the user may not run, so {@code diagnose.lua} finds out; at most once in ten seconds for the same refusal.
 */
final class Remedies {

    private static final Pattern COMMAND = Pattern.compile("permissions to run the '([\\w|-]+)' command");
    private static final Pattern DENIED = Pattern.compile("can't run this command|permissions to run");
    private static final Pattern KEY = Pattern.compile("permissions to access|can't access at least one");

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
    String of(String refusal, RedisKeys.Slot slot) {
        String key = slot.name() + " " + refusal;
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

    private String find(String refusal, RedisKeys.Slot slot) {
        Matcher command = COMMAND.matcher(refusal);
        if (command.find()) {
            return grant(List.of(command.group(1).toLowerCase(Locale.ROOT)));
        }
        if (KEY.matcher(refusal).find()) {
            return " Grant the user of this connection the keys ~" + keyPattern + " with ACL SETUSER.";
        }
        if (DENIED.matcher(refusal).find()) {
            return grant(Replies.texts(diagnosis.apply(slot), 0));
        }
        return refusal.startsWith("WRONGTYPE") ? wrongTypes(Replies.texts(diagnosis.apply(slot), 1)) : "";
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
