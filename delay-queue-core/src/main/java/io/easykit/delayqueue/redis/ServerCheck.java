package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.redis.ErrorReply;
import io.easykit.redis.RedisReply;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Checks whether Redis, or each reachable server of a cluster, has settings that endanger messages. Commands that are
 * forbidden, as in managed services, are skipped.
 */
public final class ServerCheck {

    private static final Logger log = LoggerFactory.getLogger(ServerCheck.class);
    private static final String UNKNOWN = "unknown";
    private static final Pattern VERSION = Pattern.compile("(\\d{1,4})\\.(\\d{1,4})");

    private ServerCheck() {}

    /**
     * The findings.
     *
     * @param details  {@code version}, {@code evictionPolicy} and {@code persistence}; all values if there are several servers
     * @param warnings settings that endanger messages, each with its remedy
     */
    public record Report(Map<String, String> details, List<String> warnings) {

        public Report {
            details = Map.copyOf(details);
            warnings = List.copyOf(warnings);
        }
    }

    /**
     * Checks each server that can be reached.
     *
     * @throws StoreUnavailableException if Redis does not answer
     */
    public static Report of(RedisConnectionFactory connections) {
        try (RedisConnection connection = connections.getConnection()) {
            Answers answers = new Answers(
                    ask("INFO", () -> connection.serverCommands().info()),
                    ask("CONFIG", () -> connection.serverCommands().getConfig("save")),
                    ask("CONFIG", () -> connection.serverCommands().getConfig("min-replicas-to-write")));
            return report(answers);
        } catch (DataAccessException e) {
            throw QueueFailures.translate("the check", e);
        }
    }

    private static Report report(Answers answers) {
        // Valkey also reports the version of the Redis that it is compatible with.
        String compatible = answers.info("redis_version");
        String valkey = answers.info("valkey_version");
        String version = valkey.equals(UNKNOWN) ? compatible : valkey;
        String eviction = answers.info("maxmemory_policy");
        String persistence = persistence(answers);
        Map<String, String> details = new LinkedHashMap<>();
        details.put("version", version);
        details.put("evictionPolicy", eviction);
        details.put("persistence", persistence);

        List<String> warnings = new ArrayList<>();
        if (Pattern.compile(", ").splitAsStream(compatible).anyMatch(ServerCheck::isTooOld)) {
            warnings.add("Redis is version " + compatible + ". Use 6.2 or later, or Valkey.");
        }
        checkEviction(eviction, warnings);
        checkPersistence(persistence, warnings);
        if (hasReplicas(answers) && "0".equals(answers.minReplicas())) {
            warnings.add(
                    "Redis has replicas, and a master that is cut off from them goes on accepting messages, which are"
                            + " lost when a replica is promoted. Set min-replicas-to-write to 1 on all servers.");
        }
        return new Report(details, warnings);
    }

    private static void checkPersistence(String persistence, List<String> warnings) {
        if (persistence.endsWith("none")) {
            warnings.add("Redis keeps nothing on disk, so a restart of it loses all messages. Set appendonly to yes.");
        } else if (persistence.endsWith("rdb")) {
            warnings.add(
                    "Redis keeps only snapshots on disk. After a crash it has lost the messages that were sent since the"
                            + " last one, and delivers again those that have ended since. Set appendonly to yes.");
        }
    }

    /** The volatile policies evict only keys with a TTL, and messages have none. */
    private static void checkEviction(String policies, List<String> warnings) {
        List<String> evicting = Pattern.compile(", ")
                .splitAsStream(policies)
                .filter(policy -> !List.of("noeviction", UNKNOWN).contains(policy))
                .toList();
        if (evicting.stream().anyMatch(policy -> !policy.startsWith("volatile-"))) {
            warnings.add("Redis may evict messages when its memory is full (maxmemory-policy is " + policies
                    + "). Set maxmemory-policy to noeviction, or use a Redis for the queue alone.");
        } else if (!evicting.isEmpty()) {
            warnings.add("Redis may evict keys that have a TTL when its memory is full (maxmemory-policy is " + policies
                    + "). Messages stay, but rates of topics are exceeded, alerts are raised without a cause,"
                    + " and running purges and redrives are forgotten. Set maxmemory-policy to noeviction, and"
                    + " use another Redis for caches.");
        }
    }

    /** The masters of a cluster that are cut off stop by themselves. */
    private static boolean hasReplicas(Answers answers) {
        return answers.info("cluster_enabled").equals("0")
                && !List.of("0", UNKNOWN).contains(answers.info("connected_slaves"));
    }

    private static boolean isTooOld(String version) {
        Matcher numbers = VERSION.matcher(version);
        if (!numbers.lookingAt()) {
            return false;
        }
        int major = Integer.parseInt(numbers.group(1));
        return major < 6 || (major == 6 && Integer.parseInt(numbers.group(2)) < 2);
    }

    /** Of servers that differ: {@code aof}, and what those without it have. */
    private static String persistence(Answers answers) {
        String appendOnly = answers.info("aof_enabled");
        if (appendOnly.equals("1")) {
            return "aof";
        }
        String save = answers.save();
        if (save == null || appendOnly.equals(UNKNOWN)) {
            return UNKNOWN;
        }
        return (appendOnly.contains("1") ? "aof, " : "") + (save.isEmpty() ? "none" : "rdb");
    }

    private static @Nullable Properties ask(String command, Question question) {
        try {
            return question.ask();
        } catch (DataAccessException e) {
            if (ErrorReply.of(e) == null) {
                throw e;
            }
            log.debug("Redis refuses {}", command, RedisReply.safe(e));
            return null;
        }
    }

    @FunctionalInterface
    private interface Question {
        @Nullable Properties ask();
    }

    /** The replies of all servers. In a cluster the names begin with the server's name. */
    private record Answers(@Nullable Properties info, @Nullable Properties saves, @Nullable Properties replicas) {

        String info(String name) {
            String found = values(info, name);
            return found == null || found.isEmpty() ? UNKNOWN : found;
        }

        @Nullable String save() {
            return values(saves, "save");
        }

        @Nullable String minReplicas() {
            return values(replicas, "min-replicas-to-write");
        }

        private static @Nullable String values(@Nullable Properties answer, String name) {
            if (answer == null) {
                return null;
            }
            TreeSet<String> values = new TreeSet<>();
            for (String key : answer.stringPropertyNames()) {
                if (key.equals(name) || key.endsWith("." + name)) {
                    values.add(answer.getProperty(key));
                }
            }
            return values.isEmpty() ? null : String.join(", ", values);
        }
    }
}
