package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.redis.ScriptFaultTests.Step;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.test.RawRedis.RedisError;
import io.easykit.test.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Every script against a Redis that refuses: the documented permissions without one of them, and each key of a shard with
 * another type or with garbage in it. Nothing is lost, and all goes on when that is mended.
 */
class DamageIntegrationTests {

    private static final Path DOCUMENTATION = Path.of("..", "docs", "delay-queue", "operations.md");
    private static final Set<String> ALL = Set.of("w2", "w4", "f3", "e1", "e2");
    private static final String PREFIX = "dq:{t:0}:";

    private final FaultyShard shard = new FaultyShard();
    private final List<String> refusals = new ArrayList<>();

    @AfterEach
    void close() {
        shard.redis().command("ACL", "DELUSER", "shop");
        shard.close();
    }

    static List<String> permissions() {
        try (Stream<String> lines = Files.lines(DOCUMENTATION)) {
            return lines.filter(line -> line.startsWith("ACL SETUSER "))
                    .flatMap(line -> Arrays.stream(line.split(" ")))
                    .filter(word -> word.startsWith("+") && !word.matches("\\+(info|config.*|client|.*subscribe|ping)"))
                    .map(word -> word.substring(1))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @ParameterizedTest
    @MethodSource("permissions")
    void losesNothingWithoutOneOfTheDocumentedPermissions(String missing) {
        shard.populate();
        List<String> rule = new ArrayList<>(List.of(
                "ACL",
                "SETUSER",
                "shop",
                "on",
                ">secret",
                "~dq:*",
                "~test:*",
                "resetchannels",
                "&dq:*",
                "-@all",
                "+lrange"));
        permissions().forEach(permission -> rule.add("+" + permission));
        rule.add("-" + missing.replaceAll("\\|.*", ""));
        shard.redis().command(rule.toArray(String[]::new));
        LettuceConnectionFactory connections = asShop();
        try (RedisQueueStore store = new RedisQueueStore(connections, "dq:", TestShard::withTestClock)) {
            attemptEverything(store);
        } finally {
            connections.destroy();
        }

        assertThat(refusals.stream().filter(refusal -> refusal.contains(".lua")))
                .allSatisfy(refusal -> assertThat(refusal).contains("+" + missing));
        goesOn(missing);
    }

    private static LettuceConnectionFactory asShop() {
        RedisServer server = RedisServer.shared();
        RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration(server.host(), server.port());
        configuration.setUsername("shop");
        configuration.setPassword("secret");
        LettuceConnectionFactory connections = new LettuceConnectionFactory(configuration);
        connections.afterPropertiesSet();
        connections.start();
        return connections;
    }

    static Stream<Arguments> keys() {
        return Stream.of(
                arguments("ZADD", "waiting"),
                arguments("ZADD", "inflight"),
                arguments("ZADD", "dead"),
                arguments("HSET", "state"),
                arguments("HSET", "errors"),
                arguments("SET", "count:sent"),
                arguments("SET", "count:acknowledged"),
                arguments("HSET", "settings"),
                arguments("SET", "m:w1"),
                arguments("SET", "m:f1"),
                arguments("HSET", "samples"),
                arguments("SET", "claim:o"),
                arguments("SET", "alert:due"));
    }

    @ParameterizedTest
    @MethodSource("keys")
    void losesNothingWhereAKeyHasAnotherType(String own, String key) {
        for (String planted : List.of("SET %s garbage", "HSET %s a garbage")) {
            if (planted.startsWith(own)) {
                continue;
            }
            shard.redis().command("FLUSHALL");
            refusals.clear();
            shard.clock(100_000);
            shard.populate();
            rename(PREFIX + key, "kept");
            shard.redis().command(planted.formatted(PREFIX + key).split(" "));

            attemptEverything(shard.store);

            assertThat(refusals).allSatisfy(refusal -> assertThat(refusal)
                    .contains("WRONGTYPE", "The key " + PREFIX + key + " is not a"));
            if (key.startsWith("m:")) { // of a message that has ended meanwhile
                shard.redis().command("DEL", "kept", PREFIX + key);
            } else if (key.startsWith("count:")) { // the sweep has computed it anew
                shard.redis().command("DEL", "kept");
            } else {
                shard.redis().command("DEL", PREFIX + key);
                rename("kept", PREFIX + key);
            }
            goesOn(key + planted);
        }
    }

    private void rename(String from, String to) {
        try {
            shard.redis().command("RENAME", from, to);
        } catch (RedisError e) {
            assertThat(e).hasMessageContaining("no such key");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "HSET, state",
        "HSET, settings number",
        "HSET, settings shards",
        "SET, count:sent",
        "SET, count:acknowledged",
        "SET, count:lost",
        "HSET, errors Fd1",
        "HSET, errors Lw3",
        "SET, claim:o",
        "SET, alert:due"
    })
    void losesNothingWhereAFieldIsGarbage(String command, String field) {
        for (String garbage : List.of("", "99999999999999999999", "5:x:y")) {
            shard.redis().command("FLUSHALL");
            refusals.clear();
            shard.clock(100_000);
            shard.populate();
            for (String id : field.equals("state") ? List.of("f1", "f3", "e1", "w3", "d1") : List.of("")) {
                List<String> words = new ArrayList<>(List.of(command));
                words.addAll(List.of((PREFIX + field + (id.isEmpty() ? "" : " " + id)).split(" ")));
                words.add(garbage);
                shard.redis().command(words.toArray(String[]::new));
            }

            attemptEverything(shard.store);

            assertThat(refusals).as(garbage).isEmpty();
            goesOn(field + " " + garbage);
        }
    }

    @ParameterizedTest
    @CsvSource({"waiting, w2", "inflight, e1", "dead, d1"})
    void losesNothingWhereAScoreIsNoTime(String place, String id) {
        for (String score : List.of("-inf", "inf", "1.5")) {
            shard.redis().command("FLUSHALL");
            refusals.clear();
            shard.clock(100_000);
            shard.populate();
            shard.redis().command("ZADD", PREFIX + place, score, id);

            attemptEverything(shard.store);

            assertThat(refusals).as(score).isEmpty();
            shard.redis().command("ZADD", PREFIX + "waiting", "XX", "LT", "110000", "w2");
            shard.store
                    .find(KEY, "d1")
                    .ifPresent(dead -> shard.store.redrive(KEY, List.of(new DeadLetterRef("d1", dead.at()))));
            goesOn(place + score);
        }
    }

    private void attemptEverything(QueueBackend store) {
        for (Step step : ScriptFaultTests.steps()) {
            if (step.is("purge by age")) {
                continue; // ends messages that a reap has made dead letters
            }
            try {
                assertThat(step.on(shard).apply(store)).isNotNull();
            } catch (DelayQueueException e) {
                refusals.add(String.valueOf(e.getMessage()));
            }
        }
        try {
            store.resume(KEY);
        } catch (DelayQueueException e) {
            refusals.add(String.valueOf(e.getMessage()));
        }
    }

    /** All is mended: every message that has not been ended is delivered, and the ledger is right. */
    private void goesOn(String damage) {
        shard.store.resume(KEY);
        shard.repair();
        Set<String> there = new TreeSet<>(shard.whereabouts().keySet());
        there.removeIf(id -> !shard.hasBody(id));
        shard.assertInPlace(ALL);

        assertThat(shard.drain().keySet()).as(damage).containsAll(ALL).containsAll(there);
        shard.repair();
        assertThat(shard.left()).as(damage).isEmpty();
        assertThat(shard.store.stats(KEY).imbalance()).as("ledger " + damage).isZero();
    }
}
