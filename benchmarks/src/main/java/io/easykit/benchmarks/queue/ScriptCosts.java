package io.easykit.benchmarks.queue;

import io.easykit.benchmarks.cache.FetchCall;
import io.easykit.benchmarks.measure.Comparison;
import io.easykit.benchmarks.measure.CountedRedis;
import io.easykit.benchmarks.measure.RedisCost;
import io.easykit.benchmarks.measure.Version;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The cost in Redis of one call of each script, for two versions side by side on one server. The versions alternate
 * every few milliseconds, each time with the same state: 2,000 waiting messages, and as many due or in flight as the
 * calls need.
 */
public final class ScriptCosts {

    private static final List<Integer> DEPTHS = List.of(1, 50);
    private static final int CALLS = 400;
    private static final int TURNS = 12;
    private static final int PENDING = 2_000;
    private static final int BATCH = 100;
    private static final String PREFIX = "dq:{order-close:0}:";
    private static final String OWNER = "0123456789abcdef0123456789abcdef";
    private static final String FRAME = "x".repeat(140);
    private static final String ENTRY = "ec:product::7";

    /** Ahead of the clock in microseconds, so that claims continue from here, and the numbers are known in advance. */
    private static final long FIRST_NUMBER = 4_000_000_000_000_000L;

    private final StatefulRedisConnection<String, String> connection;
    private final RawRedis info;
    private final Map<Version, ScriptTexts> scripts = new HashMap<>();
    private final Map<String, String> shas = new HashMap<>();

    private ScriptCosts(StatefulRedisConnection<String, String> connection, RawRedis info) {
        this.connection = connection;
        this.info = info;
    }

    public static void run(List<Version> versions) throws Exception {
        RedisServer redis = RedisServer.start();
        RedisClient client = RedisClient.create(RedisURI.create(redis.host(), redis.port()));
        try (RawRedis info = redis.connect()) {
            ScriptCosts costs = new ScriptCosts(client.connect(StringCodec.UTF8), info);
            for (Version version : versions) {
                costs.scripts.put(version, ScriptTexts.of(version));
            }
            System.out.println(RedisCost.heading() + " of one call, Redis "
                    + info.info("server").get("redis_version") + "\n");
            Comparison comparison = new Comparison(versions);
            comparison.header();
            for (int depth : DEPTHS) {
                costs.compare(comparison, depth);
            }
        } finally {
            client.shutdown();
            redis.close();
        }
    }

    private void compare(Comparison comparison, int depth) throws ExecutionException, InterruptedException {
        int turns = CountedRedis.isUsed() ? 1 : TURNS;
        for (Map.Entry<String, Scenario> scenario : scenarios().entrySet()) {
            for (int round = 0; round < Comparison.rounds(); round++) {
                Map<Version, Double> micros = new LinkedHashMap<>();
                for (int turn = 0; turn < turns; turn++) {
                    for (Version version : comparison.order(turn)) {
                        micros.merge(version, turn(version, scenario.getValue(), depth) / turns, Double::sum);
                    }
                }
                micros.forEach((version, each) ->
                        comparison.add(scenario.getKey() + ", " + depth + " on the way", version, each));
            }
            comparison.print();
        }
    }

    private double turn(Version version, Scenario scenario, int depth) throws ExecutionException, InterruptedException {
        ScriptTexts texts = Objects.requireNonNull(scripts.get(version));
        List<Call> calls = scenario.prepare(new Shard(texts));
        calls.forEach(call -> sha(texts, call));
        double before = RedisCost.cpu(info);
        send(texts, calls, depth);
        return (RedisCost.cpu(info) - before) / calls.size();
    }

    private void send(ScriptTexts texts, List<Call> calls, int depth) throws ExecutionException, InterruptedException {
        connection.setAutoFlushCommands(false);
        List<RedisFuture<?>> replies = new ArrayList<>(depth);
        for (int sent = 0; sent < calls.size(); ) {
            for (int i = 0; i < depth && sent < calls.size(); i++, sent++) {
                replies.add(send(texts, calls.get(sent)));
            }
            connection.flushCommands();
            for (RedisFuture<?> reply : replies) {
                reply.get();
            }
            replies.clear();
        }
        connection.setAutoFlushCommands(true);
    }

    private String sha(ScriptTexts texts, Call call) {
        return shas.computeIfAbsent(
                texts.text(call.script()), text -> connection.sync().scriptLoad(text));
    }

    private RedisFuture<?> send(ScriptTexts texts, Call call) {
        return connection
                .async()
                .evalsha(
                        sha(texts, call),
                        ScriptOutputType.MULTI,
                        call.keys().toArray(String[]::new),
                        call.arguments().toArray(String[]::new));
    }

    private static Map<String, Scenario> scenarios() {
        Map<String, Scenario> scenarios = new LinkedHashMap<>();
        scenarios.put("send of 1", shard -> shard.sends(1));
        scenarios.put("send of 4", shard -> shard.sends(4));
        scenarios.put("send of 100", shard -> shard.sends(100));
        scenarios.put("claim of nothing", Shard::claimsOfNothing);
        scenarios.put("claim of 1 with 1 acknowledgement", shard -> shard.claims(1));
        scenarios.put("claim of 8 with 8 acknowledgements", shard -> shard.claims(8));
        scenarios.put("claim of 100 with 100 acknowledgements", shard -> shard.claims(100));
        scenarios.put("acknowledge of 1", shard -> shard.settlements("acknowledge", 1, List.of(), List.of()));
        scenarios.put("acknowledge of 8", shard -> shard.settlements("acknowledge", 8, List.of(), List.of()));
        scenarios.put("fail of 1", shard -> shard.settlements("fail", 1, List.of(), List.of("1000", "no: it failed")));
        scenarios.put("release of 1", shard -> shard.settlements("release", 1, List.of("0"), List.of()));
        scenarios.put("extend of 8", shard -> shard.settlements("extend", 8, List.of("60000"), List.of()));
        scenarios.put("reap of nothing", Shard::reapsOfNothing);
        scenarios.put("reap of 10", Shard::reaps);
        scenarios.put("cancel of 1", Shard::cancels);
        scenarios.put("easy-cache: fetch of a hit", shard -> shard.fetches(true));
        scenarios.put("easy-cache: fetch that gets the load lease", shard -> shard.fetches(false));
        scenarios.put("easy-cache: invalidate", shard -> shard.invalidations(List.of()));
        scenarios.put(
                "easy-cache: invalidate with a hint",
                shard -> shard.invalidations(List.of("ec:near", "0123456789abcdef" + ENTRY)));
        return scenarios;
    }

    /** Sets up a state in Redis and returns the calls to measure. */
    private interface Scenario {
        List<Call> prepare(Shard shard);
    }

    private record Call(String script, List<String> keys, List<String> arguments) {
        Call(String script, List<String> arguments) {
            this(script, List.of(PREFIX, PREFIX + "settings"), arguments);
        }
    }

    /** A shard with messages that are due in an hour. */
    private final class Shard {
        private final ScriptTexts texts;

        Shard(ScriptTexts texts) {
            this.texts = texts;
            connection.sync().flushall();
            connection.sync().hset(PREFIX + "settings", "number", String.valueOf(FIRST_NUMBER));
            fill(ids("pending", PENDING), "+3600000");
        }

        private void fill(List<String> ids, String due) {
            for (List<String> batch : batches(ids, BATCH)) {
                send(texts, sendOf(batch, due)).toCompletableFuture().join();
            }
        }

        private Call sendOf(List<String> ids, String due) {
            return new Call(
                    "send",
                    ids.stream().flatMap(id -> Stream.of(id, due, FRAME)).toList());
        }

        List<Call> sends(int batch) {
            return batches(ids("new", CALLS), batch).stream()
                    .map(ids -> sendOf(ids, "+7200000"))
                    .toList();
        }

        /** Returns claims that acknowledge the messages of the previous one. */
        List<Call> claims(int batch) {
            fill(ids("due", CALLS), "1000");
            List<Call> claims = new ArrayList<>();
            List<String> taken = List.of();
            for (List<String> ids : batches(ids("due", CALLS), batch)) {
                claims.add(claim(claims.size() + 1, batch, taken));
                taken = leases(ids, (claims.size() - 1) * batch);
            }
            return claims;
        }

        List<Call> claimsOfNothing() {
            return IntStream.rangeClosed(1, CALLS)
                    .mapToObj(request -> claim(request, 8, List.of()))
                    .toList();
        }

        private Call claim(int request, int count, List<String> acknowledged) {
            List<String> arguments = new ArrayList<>(List.of(
                    OWNER,
                    String.valueOf(request),
                    String.valueOf(count),
                    String.valueOf(count),
                    "30000",
                    "131072",
                    ""));
            return with("claim", arguments, acknowledged);
        }

        private Call with(String script, List<String> first, List<String> messages) {
            int fixed = Math.min(first.size(), texts.argumentsBeforeMessages(script));
            return new Call(
                    script,
                    Stream.of(first.subList(0, fixed), messages)
                            .flatMap(List::stream)
                            .toList());
        }

        private List<String> leases(List<String> ids, int before, String... more) {
            return IntStream.range(0, ids.size())
                    .boxed()
                    .flatMap(i -> Stream.concat(
                            Stream.of(ids.get(i), String.valueOf(FIRST_NUMBER + before + i + 1)), Stream.of(more)))
                    .toList();
        }

        private void take() {
            fill(ids("due", CALLS), "1000");
            for (int request = 1; request <= CALLS / BATCH; request++) {
                send(texts, claim(request, BATCH, List.of()))
                        .toCompletableFuture()
                        .join();
            }
        }

        /** Returns calls for messages in flight; {@code more} follows each id and number. */
        List<Call> settlements(String script, int batch, List<String> first, List<String> more) {
            take();
            List<Call> calls = new ArrayList<>();
            for (List<String> ids : batches(ids("due", CALLS), batch)) {
                calls.add(with(script, first, leases(ids, calls.size() * batch, more.toArray(String[]::new))));
            }
            return calls;
        }

        List<Call> reapsOfNothing() {
            take();
            return reaps(CALLS);
        }

        List<Call> reaps() {
            take();
            ids("due", CALLS).forEach(id -> connection.sync().zadd(PREFIX + "inflight", 1000, id));
            return reaps(CALLS / 10);
        }

        private List<Call> reaps(int calls) {
            Call reap = with("reap", List.of("10", "5", "0", "stop", "9007199254740992"), List.of());
            return Stream.generate(() -> reap).limit(calls).toList();
        }

        List<Call> cancels() {
            return ids("pending", CALLS).stream()
                    .map(id -> new Call("cancel", List.of(id, "")))
                    .toList();
        }

        /** Returns fetches of a long-lived fresh entry, or of an entry that was never loaded. */
        List<Call> fetches(boolean isHit) {
            if (isHit) {
                connection.sync().hset(ENTRY, "v", "~".repeat(6) + "\0\0\0\0" + "p".repeat(100));
            }
            List<String> arguments = FetchCall.arguments(texts.text("fetch"), "v");
            return IntStream.range(0, CALLS)
                    .mapToObj(i -> new Call("fetch", List.of(isHit ? ENTRY : ENTRY + i), arguments))
                    .toList();
        }

        /** Returns invalidations of entries without a value. A hint has no subscriber; a version without hints ignores it. */
        List<Call> invalidations(List<String> hint) {
            List<String> arguments =
                    Stream.concat(Stream.of("", "0"), hint.stream()).toList();
            return IntStream.range(0, CALLS)
                    .mapToObj(i -> new Call("invalidate", List.of(ENTRY + i), arguments))
                    .toList();
        }
    }

    private static List<String> ids(String kind, int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> String.format("%s-0123456789abcdef-%06d", kind, i))
                .toList();
    }

    private static <T> List<List<T>> batches(List<T> list, int size) {
        return IntStream.iterate(0, from -> from < list.size(), from -> from + size)
                .mapToObj(from -> list.subList(from, Math.min(list.size(), from + size)))
                .toList();
    }
}
