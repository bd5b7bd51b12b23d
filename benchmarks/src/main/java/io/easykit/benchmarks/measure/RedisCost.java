package io.easykit.benchmarks.measure;

import io.easykit.test.RawRedis;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The work of a Redis.
 *
 * @param calls its calls by command, including those of scripts, excluding {@code INFO}
 * @param cpu CPU time of its main thread in microseconds. In a counted run thousands of instructions, see
 *     {@link CountedRedis}
 */
public record RedisCost(SortedMap<String, Long> calls, double cpu) {

    private static final String COMMAND = "cmdstat_";

    /** Returns the work since the server started. */
    public static RedisCost of(RawRedis redis) {
        SortedMap<String, Long> calls = new TreeMap<>();
        redis.info("commandstats").forEach((name, stats) -> {
            String command = name.substring(COMMAND.length());
            if (!command.equals("info")) {
                calls.put(command, callsOf(stats));
            }
        });
        return new RedisCost(calls, cpu(redis));
    }

    /** Returns the CPU time alone, which is cheap to read, or the instructions. */
    public static double cpu(RawRedis redis) {
        if (CountedRedis.isUsed()) {
            return CountedRedis.instructions(redis) / 1e3;
        }
        Map<String, String> cpu = redis.info("cpu");
        return micros(cpu, "used_cpu_user") + micros(cpu, "used_cpu_sys");
    }

    public RedisCost since(RedisCost before) {
        SortedMap<String, Long> more = new TreeMap<>();
        calls.forEach((command, count) -> {
            long delta = count - before.calls.getOrDefault(command, 0L);
            if (delta > 0) {
                more.put(command, delta);
            }
        });
        return new RedisCost(more, cpu - before.cpu);
    }

    /** Returns the heading of a column with {@link #cpu}. */
    public static String heading() {
        return CountedRedis.isUsed() ? "Redis instructions (thousands)" : "Redis CPU µs";
    }

    /**
     * Returns for example {@code 1.00 hgetall}. Commands with less than one call in two hundred operations are left
     * out.
     */
    public String callsPer(long operations) {
        return calls.entrySet().stream()
                .filter(call -> call.getValue() * 200 >= operations)
                .map(call ->
                        String.format(Locale.ROOT, "%.2f %s", (double) call.getValue() / operations, call.getKey()))
                .collect(Collectors.joining(", "));
    }

    /** Returns all calls, including those of scripts. */
    public long allCalls() {
        return calls.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Returns the calls of clients, excluding those of scripts. */
    public double clientCalls(ClientShares shares) {
        return calls.entrySet().stream()
                .mapToDouble(call -> call.getValue() * shares.of(call.getKey()))
                .sum();
    }

    /** Returns the number of script calls. */
    public long scriptCalls() {
        return calls.getOrDefault("evalsha", 0L) + calls.getOrDefault("eval", 0L);
    }

    /** {@code calls=21,usec=175,…} */
    private static long callsOf(String stats) {
        return Long.parseLong(stats.substring("calls=".length(), stats.indexOf(',')));
    }

    /** CPU time of the main thread if the server reports it (Redis 7), else of the process. */
    private static long micros(Map<String, String> cpu, String name) {
        String seconds = cpu.getOrDefault(name + "_main_thread", cpu.getOrDefault(name, "0"));
        return Math.round(Double.parseDouble(seconds) * 1e6);
    }
}
