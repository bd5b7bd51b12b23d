package io.easykit.benchmarks.cache;

import io.easykit.benchmarks.cache.contender.Contender;
import io.easykit.benchmarks.cache.contender.Database;
import io.easykit.benchmarks.cache.contender.RedisContender;
import io.easykit.benchmarks.cache.contender.Setup;
import io.easykit.benchmarks.measure.Comparison;
import io.easykit.benchmarks.measure.CountedRedis;
import io.easykit.benchmarks.measure.RedisCost;
import io.easykit.benchmarks.measure.Spread;
import io.easykit.benchmarks.measure.Table;
import io.easykit.cache.redis.RedisEntryStore;
import io.easykit.redis.LuaScript;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.StringCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.function.IntFunction;
import java.util.function.UnaryOperator;

/**
 * The first part of C1: the cost of a command in Redis with a fixed number of commands in flight, independent of the
 * speed of the clients. The commands take turns every few milliseconds.
 */
final class CommandCosts {

    private static final List<Integer> DEPTHS = List.of(1, 16, 64);
    private static final int TURNS = 20;
    private static final int COMMANDS_A_TURN = 2_048;

    /** Its entry is read to find the name of its value. */
    private static final String ANY_ENTRY = "ec:product::7";

    private final StatefulRedisConnection<String, String> connection;
    private final RawRedis info;
    private final Map<String, IntFunction<RedisFuture<?>>> commands = new LinkedHashMap<>();

    private CommandCosts(StatefulRedisConnection<String, String> connection, RawRedis info) {
        this.connection = connection;
        this.info = info;
        RedisAsyncCommands<String, String> redis = connection.async();
        String script = fetchScript();
        String sha = connection.sync().scriptLoad(script);
        String field = connection.sync().hkeys(ANY_ENTRY).get(0);
        String[] arguments = FetchCall.arguments(script, field).toArray(String[]::new);
        commands.put("GET of a string", id -> redis.get("raw:product::" + id));
        commands.put("HGETALL of an entry", id -> redis.hgetall("ec:product::" + id));
        commands.put("HMGET of three fields of an entry", id -> redis.hmget("ec:product::" + id, field, "s", "f"));
        commands.put(
                "EVALSHA of the fetch script",
                id -> redis.evalsha(sha, ScriptOutputType.MULTI, new String[] {"ec:product::" + id}, arguments));
    }

    static void run(RedisServer redis) throws Exception {
        fill(redis, RedisContender.RAW_GET);
        fill(redis, RedisContender.EASY_CACHE);
        RedisClient client = RedisClient.create(RedisURI.create(redis.host(), redis.port()));
        try (RawRedis info = redis.connect()) {
            CommandCosts costs = new CommandCosts(client.connect(StringCodec.UTF8), info);
            costs.requireHits();
            System.out.println("\nThe commands alone, a fixed number of them on the way\n");
            Table.header("on the way", "command", RedisCost.heading(), "to GET");
            for (int depth : DEPTHS) {
                costs.measure(depth);
            }
        } finally {
            client.shutdown();
        }
    }

    private static void fill(RedisServer redis, RedisContender contender) {
        Database database = new Database(Duration.ZERO);
        Setup setup = new Setup(redis.host(), redis.port(), database, Duration.ofSeconds(1));
        try (Contender products = contender.open(setup)) {
            HitLoad.fill(products, database);
        }
    }

    private void requireHits() throws ExecutionException, InterruptedException {
        for (Map.Entry<String, IntFunction<RedisFuture<?>>> command : commands.entrySet()) {
            String reply = String.valueOf(command.getValue().apply(7).get());
            if (!reply.contains("Product number 7")) {
                throw new IllegalStateException(command.getKey() + " is no hit: " + reply);
            }
        }
    }

    private void measure(int depth) throws ExecutionException, InterruptedException {
        Map<String, List<Double>> micros = new LinkedHashMap<>();
        Map<String, List<Double>> ratios = new LinkedHashMap<>();
        for (int round = 0; round < Comparison.rounds(); round++) {
            double get = 0;
            for (Map.Entry<String, Double> cost : round(depth).entrySet()) {
                get = get == 0 ? cost.getValue() : get;
                micros.computeIfAbsent(cost.getKey(), some -> new ArrayList<>()).add(cost.getValue());
                ratios.computeIfAbsent(cost.getKey(), some -> new ArrayList<>()).add(cost.getValue() / get);
            }
        }
        micros.forEach((command, own) -> Table.row(
                depth,
                command,
                Spread.of(own).text(2),
                Spread.of(ratios.getOrDefault(command, List.of())).text(2)));
    }

    /** Returns the microseconds of a command, by command name. */
    private Map<String, Double> round(int depth) throws ExecutionException, InterruptedException {
        Map<String, Double> micros = new LinkedHashMap<>();
        int turns = CountedRedis.isUsed() ? 1 : TURNS;
        for (int turn = 0; turn < turns; turn++) {
            for (Map.Entry<String, IntFunction<RedisFuture<?>>> command : commands.entrySet()) {
                double before = RedisCost.cpu(info);
                send(command.getValue(), depth);
                double each = (RedisCost.cpu(info) - before) / COMMANDS_A_TURN;
                micros.merge(command.getKey(), each / turns, Double::sum);
            }
        }
        return micros;
    }

    private void send(IntFunction<RedisFuture<?>> command, int depth) throws ExecutionException, InterruptedException {
        connection.setAutoFlushCommands(false);
        List<RedisFuture<?>> replies = new ArrayList<>(depth);
        for (int sent = 0; sent < COMMANDS_A_TURN; ) {
            for (int i = 0; i < depth; i++, sent++) {
                replies.add(command.apply(sent % HitLoad.KEYS));
            }
            connection.flushCommands();
            for (RedisFuture<?> reply : replies) {
                reply.get();
            }
            replies.clear();
        }
        connection.setAutoFlushCommands(true);
    }

    private static String fetchScript() {
        return LuaScript.read(RedisEntryStore.class, "fetch.lua", UnaryOperator.identity())
                .text();
    }
}
