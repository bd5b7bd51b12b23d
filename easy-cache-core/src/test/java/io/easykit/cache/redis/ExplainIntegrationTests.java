package io.easykit.cache.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.ValueCodec;
import io.easykit.cache.admin.EasyCacheAdmin;
import io.easykit.cache.admin.EntryExplanation;
import io.easykit.cache.admin.EntryExplanation.State;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.store.Fetched;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.lang.reflect.Type;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Holds the explanations against what readers then get, in every combination of fields. */
class ExplainIntegrationTests {

    private static final int EPOCH = 50;

    /** What may be in the value's field; all times are far from now. */
    private static final List<String> VALUES = List.of(
            "none",
            "valid",
            "near its end",
            "own ttl",
            "own ttl near its end",
            "old epoch",
            "other version",
            "damaged",
            "expired");

    private static final List<String> FILLS = List.of("none", "loading", "late", "given up", "damaged", "garbage");
    private static final List<String> TIMES = List.of("none", "ahead", "far ahead", "over", "not a number");

    private final RedisServer server = RedisServer.shared();
    private final RawRedis redis = server.connect();
    private final LettuceConnectionFactory connections = new LettuceConnectionFactory(server.host(), server.port());
    private RedisEntryStore store;
    private EasyCacheEngine cache;
    private EasyCacheAdmin admin;

    @BeforeEach
    void start() {
        server.flush();
        redis.command("HSET", "ec:epochs", "item", Integer.toString(EPOCH));
        connections.afterPropertiesSet();
        connections.start();
        store = new RedisEntryStore(connections, Duration.ofSeconds(10));
        cache = EasyCacheEngine.builder(new TextCodec()).store("default", store).build();
        admin = cache.admin();
    }

    @AfterEach
    void stop() {
        server.flush();
        cache.stop();
        connections.destroy();
        redis.close();
    }

    @Test
    void saysOfEveryCombinationOfFieldsWhatTheNextReaderGets() {
        List<String> wrong = new ArrayList<>();
        Set<State> seen = EnumSet.noneOf(State.class);
        for (Consistency consistency : Consistency.values()) {
            CacheKey<String> key = key(consistency);
            for (String value : VALUES) {
                for (String fill : FILLS) {
                    for (String stale : TIMES) {
                        for (String update : TIMES) {
                            plant(key, value, fill, stale, update);
                            EntryExplanation told = admin.explain(key);
                            Fetched got = store.fetch(key, EPOCH);
                            seen.add(told.state());
                            if (told.nextRead() != got.outcome()) {
                                wrong.add(consistency + ", value " + value + ", fill " + fill + ", stale " + stale
                                        + ", update " + update + ": " + told.state() + " says " + told.nextRead()
                                        + ", got " + got.outcome());
                            }
                        }
                    }
                }
            }
        }

        assertThat(wrong).isEmpty();
        assertThat(seen)
                .containsExactlyInAnyOrderElementsOf(EnumSet.complementOf(
                        EnumSet.of(State.NO_ENTRY, State.UNAVAILABLE, State.UNDELIVERED, State.WITHHELD)));
    }

    @Test
    void saysInAllPlacesThatALeaseIsOverWhoseEndNoLoaderWrites() {
        CacheKey<String> key = key(Consistency.AP);
        plant(key, "none", "garbage", "none", "none");

        EntryExplanation told = admin.explain(key);

        assertThat(told.state()).isEqualTo(State.LOAD_LATE);
        assertThat(told.sentences()).first().asString().startsWith("The lease of the latest loader is over.");
        assertThat(told.fields())
                .filteredOn(field -> field.name().equals("f"))
                .singleElement()
                .extracting(EntryExplanation.Field::meaning)
                .asString()
                .contains("lease over");
    }

    @Test
    void changesNothing() {
        CacheKey<String> key = key(Consistency.AP);
        for (String value : VALUES) {
            plant(key, value, "late", "over", "over");
            List<?> before = contents();
            admin.explain(key);

            assertThat(contents()).isEqualTo(before).isNotEmpty();
        }
    }

    @Test
    void explainsAKeyOfAnotherType() {
        CacheKey<String> key = key(Consistency.AP);
        redis.command("SET", store.redisKey(key), "not an entry");

        EntryExplanation told = admin.explain(key);

        assertThat(told.state()).isEqualTo(State.NO_ENTRY);
        assertThat(redis.command("EXISTS", store.redisKey(key))).isEqualTo(1L);
        assertThat(store.fetch(key, EPOCH).outcome()).isEqualTo(told.nextRead());
    }

    @Test
    void saysTheAgeAsARangeAndShowsNoValue() throws Exception {
        CacheKey<String> key = key(Consistency.AP);
        cache.fetch(key, () -> "secret text");

        EntryExplanation told = admin.explain(key);

        assertThat(told.state()).isEqualTo(State.FRESH);
        assertThat(told.sentences().get(0))
                .startsWith("Readers get the value. It was stored ")
                .contains(" to ");
        assertThat(told.toString()).doesNotContain("secret");
        assertThat(told.fields()).extracting(EntryExplanation.Field::name).contains("key");
    }

    @Test
    void saysWhatThisNodeKnowsWhileRedisIsAway() {
        try (RedisServer own = RedisServer.start()) {
            LettuceConnectionFactory lost = new LettuceConnectionFactory(own.host(), own.port());
            lost.afterPropertiesSet();
            lost.start();
            EasyCacheEngine away = EasyCacheEngine.builder(new TextCodec())
                    .store("default", new RedisEntryStore(lost, Duration.ofMillis(500)))
                    .build();
            own.kill();
            CacheKey<String> key = key(Consistency.AP);
            away.invalidate(List.of(key));

            EntryExplanation told = away.admin().explain(key);

            assertThat(told.state()).isEqualTo(State.UNAVAILABLE);
            assertThat(told.nextRead()).isNull();
            assertThat(told.sentences())
                    .anyMatch(sentence -> sentence.startsWith("An invalidation of this entry waits on this node"));
            away.stop();
            lost.destroy();
        }
    }

    /** Without the mark of the epochs, which the worker of the cache advances. */
    private List<?> contents() {
        return redis.snapshot().entrySet().stream()
                .map(one -> one.getKey() + "=" + one.getValue().content())
                .map(one -> one.replaceFirst("::mark=\\d+(, )?", ""))
                .toList();
    }

    private static CacheKey<String> key(Consistency consistency) {
        return CacheSpec.of("item", String.class)
                .withOptions(CacheOptions.builder()
                        .consistency(consistency)
                        .ttl(Duration.ofMinutes(10))
                        .staleWindow(Duration.ofMinutes(2))
                        .refreshAhead(Duration.ofSeconds(40))
                        .build())
                .key(7);
    }

    private void plant(CacheKey<String> key, String value, String fill, String stale, String update) {
        String name = store.redisKey(key);
        long now = now();
        redis.command("DEL", name);
        List<byte[]> command = new ArrayList<>(List.of(bytes("HSET"), bytes(name)));
        addValue(command, key, value, now);
        switch (fill) {
            case "loading" -> add(command, "f", fill(now + 60_000));
            case "late" -> add(command, "f", fill(now - 60_000));
            case "given up" -> add(command, "f", fill(0));
            case "damaged" -> add(command, "f", bytes("short"));
            case "garbage" -> add(command, "f", fill(now + Duration.ofDays(5).toMillis()));
            default -> {}
        }
        addTime(command, "s", stale, now);
        addTime(command, "i", update, now);
        if (!update.equals("none")) {
            addTime(command, "i:token", update, now);
        }
        if (command.size() > 2) {
            redis.command(command.toArray(byte[][]::new));
            redis.command("PEXPIRE", name, "600000");
        }
    }

    private static void addValue(List<byte[]> command, CacheKey<String> key, String value, long now) {
        String own = "v" + key.spec().fingerprint();
        switch (value) {
            case "valid" -> add(command, own, value(now + 300_000, EPOCH));
            case "near its end" -> add(command, own, value(now + 20_000, EPOCH));
            case "own ttl" -> add(command, own, value(now + 20_000, EPOCH, 2, 0, 0, 0, 0, 1, 0x86, 0xa0));
            case "own ttl near its end" -> add(command, own, value(now + 9_000, EPOCH, 2, 0, 0, 0, 0, 1, 0x86, 0xa0));
            case "old epoch" -> add(command, own, value(now + 300_000, EPOCH - 1));
            case "other version" -> add(command, "vother", value(now + 300_000, EPOCH));
            case "damaged" -> add(command, own, bytes("xx"));
            case "expired" -> add(command, own, value(now - 60_000, EPOCH));
            default -> {}
        }
    }

    private static void addTime(List<byte[]> command, String field, String time, long now) {
        switch (time) {
            case "ahead" -> add(command, field, bytes(Long.toString(now + 60_000)));
            case "far ahead" -> add(command, field, bytes(Long.toString(now + 180_000)));
            case "over" -> add(command, field, bytes(Long.toString(now - 60_000)));
            case "not a number" -> add(command, field, bytes("soon"));
            default -> {}
        }
    }

    private static void add(List<byte[]> command, String field, byte[] content) {
        command.add(bytes(field));
        command.add(content);
    }

    private static byte[] fill(long leaseEnds) {
        byte[] end = ByteBuffer.allocate(8).putLong(leaseEnds).array();
        return ByteBuffer.allocate(14).put(bytes("tokentok")).put(end, 2, 6).array();
    }

    private static byte[] value(long expires, int epoch) {
        return value(expires, epoch, 1, 0, 'a', 'b', 'c');
    }

    private static byte[] value(long expires, int epoch, int... envelope) {
        byte[] end = ByteBuffer.allocate(8).putLong(expires).array();
        ByteBuffer whole =
                ByteBuffer.allocate(10 + envelope.length).put(end, 2, 6).putInt(epoch);
        for (int one : envelope) {
            whole.put((byte) one);
        }
        return whole.array();
    }

    private long now() {
        List<?> time = (List<?>) Objects.requireNonNull(redis.command("TIME"));
        return Long.parseLong(new String((byte[]) time.get(0), ISO_8859_1)) * 1000;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    /** Texts are their own bytes. */
    private static final class TextCodec implements ValueCodec {

        @Override
        public byte[] encode(Object value, Type type) {
            return bytes((String) value);
        }

        @Override
        public Object decode(byte[] bytes, Type type) {
            return new String(bytes, UTF_8);
        }
    }
}
