package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CacheUnavailableException;
import io.easykit.cache.CircuitBreakerOptions;
import io.easykit.cache.Consistency;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.engine.LogCapture;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.Fetched;
import io.easykit.cache.store.LoadLease;
import io.easykit.cache.store.StoreUnavailableException;
import io.easykit.redis.DedicatedConnections;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** A Redis whose ACL loses one command, or some keys, while the cache is running. */
class RefusedCommandsIntegrationTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final CacheSpec<String> CP = CacheSpec.of("name", String.class)
            .withClusterId("refusing")
            .withOptions(CacheOptions.builder().consistency(Consistency.CP).build());

    /** Of no other test: their caches may log, too. */
    private static final String CLUSTER = "refusing";

    private static RedisServer server;

    private LettuceConnectionFactory factory;
    private EasyCacheEngine cache;

    @BeforeAll
    static void startServer() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void connect() {
        server.flush();
        factory = DedicatedConnections.copyOf(new LettuceConnectionFactory(server.host(), server.port()), TIMEOUT);
        factory.afterPropertiesSet();
    }

    @AfterEach
    void close() {
        acl("+@all", "allkeys");
        if (cache != null) {
            cache.stop();
        }
        factory.destroy();
    }

    /** The commands that scripts call on a hash, and those called outside of scripts. */
    static Stream<String> commands() {
        Pattern call = Pattern.compile("redis\\.p?call\\('(\\w+)', KEYS");
        Stream<String> ofScripts = Stream.of(CacheScript.values())
                .filter(script -> script != CacheScript.REMOVE_WRONG_TYPE)
                .flatMap(script -> call.matcher(script.lua().text()).results())
                .map(match -> match.group(1));
        return Stream.concat(Stream.of("EVALSHA", "HGETALL", "TIME"), ofScripts).distinct();
    }

    @ParameterizedTest
    @MethodSource("commands")
    void isMarkedUnavailableWithOneWarningThatNamesTheCommand(String command) {
        try (LogCapture log = LogCapture.of("io.easykit.cache.Availability")) {
            cache = cache(Duration.ofMillis(10));
            assertThat(cache.fetch(CP.key(1), () -> "value")).isEqualTo("value");
            await().until(() -> state() == State.AVAILABLE);

            acl("-" + command);

            await().until(() -> state() == State.UNAVAILABLE);
            assertThat(cache.fetch(CP.key(1), () -> "the method's own")).isEqualTo("the method's own");
            assertThat(warnings(log))
                    .singleElement()
                    .asString()
                    .contains("refuses " + command + " ", "ACL SETUSER", "+" + command.toLowerCase(Locale.ROOT));

            acl("+@all");
            await().until(() -> state() == State.AVAILABLE);
            assertThat(warnings(log)).hasSize(1);
        }
    }

    /** The scripts that call PEXPIRE undo their writes, and raise its error again. */
    @Test
    void namesTheCommandWhoseErrorAScriptRaisesAgain() {
        RedisEntryStore store = new RedisEntryStore(factory, TIMEOUT);
        LoadLease lease = ((Fetched.Leased) store.fetch(CP.key(1), 0)).lease();
        Envelope value = Envelope.wrap(new byte[] {1}, 0);
        acl("-pexpire");

        assertNamesPexpire(() -> store.fetch(CP.key(2), 0));
        assertNamesPexpire(() -> store.store(CP.key(1), lease, value, TIMEOUT));
        assertNamesPexpire(() -> store.prepare(List.of(CP.key(3)), "token", TIMEOUT));
        assertNamesPexpire(() -> store.raiseEpochs(0, Map.of("name", 1L), "token"));
        assertNamesPexpire(() -> store.takeWorkLease("work", "owner", TIMEOUT, false));
    }

    private static void assertNamesPexpire(ThrowingCallable call) {
        assertThatExceptionOfType(StoreUnavailableException.class)
                .isThrownBy(call)
                .withMessageContaining("refuses PEXPIRE ");
    }

    @Test
    void keepsNoOldValueThatCouldNotBeInvalidated() {
        cache = cache(Duration.ofSeconds(1));
        CacheKey<String> key = CP.key(1);
        cache.fetch(key, () -> "old");
        acl("-hdel");

        cache.invalidate(key);

        assertThat(cache.fetch(key, () -> "new")).isEqualTo("new");
        assertThatExceptionOfType(CacheUnavailableException.class)
                .isThrownBy(() -> cache.update(List.of(key), () -> "never"));
    }

    /** The first round delivers the invalidation of the other key, and no further one fails. */
    @Test
    void keepsNoOtherInvalidationAndNoNodeAwayForRefusedKeys() {
        CacheKey<String> allowed =
                CacheSpec.of("name", String.class).withClusterId(CLUSTER).key(1);
        CacheKey<String> refused =
                CacheSpec.of("order", String.class).withClusterId(CLUSTER).key(1);
        try (LogCapture log = LogCapture.of("io.easykit.cache.Availability")) {
            cache = cache(Duration.ofMillis(10));
            EasyCacheEngine other = cache(Duration.ofMillis(10));
            assertThat(other.fetch(allowed, () -> "old")).isEqualTo("old");
            acl("resetkeys", "~ec:name::*", "~ec:epochs", "~ec:probe");

            cache.update(List.of(refused, allowed), () -> null);

            await().untilAsserted(
                            () -> assertThat(other.fetch(allowed, () -> "new")).isEqualTo("new"));
            other.stop();
            long before = rounds();
            await().until(() -> rounds() > before + 10);
            assertThat(state()).isEqualTo(State.AVAILABLE);
            assertThat(cache.undelivered(CLUSTER)).isEqualTo(1);
            assertThat(warnings(log)).singleElement().asString().contains("NOPERM", "allow ~<key-prefix>*");

            command("CLIENT", "KILL", "TYPE", "normal");
            long after = rounds();
            await().until(() -> rounds() > after + 10 && state() == State.AVAILABLE);
        }
    }

    @Test
    void sharesNoArgumentsOfACommandThatWasRenamed() {
        try (RedisServer renamed = RedisServer.start("--rename-command", "EVALSHA", "")) {
            LettuceConnectionFactory other =
                    DedicatedConnections.copyOf(new LettuceConnectionFactory(renamed.host(), renamed.port()), TIMEOUT);
            other.afterPropertiesSet();
            RedisEntryStore store = new RedisEntryStore(other, TIMEOUT);
            assertThatExceptionOfType(StoreUnavailableException.class)
                    .isThrownBy(() -> store.fetch(CP.key("secret"), 0))
                    .matches(StoreUnavailableException::isRefused)
                    .withMessageContaining("EVALSHA")
                    .withMessageNotContaining("secret");
            other.destroy();
        }
    }

    private static List<String> warnings(LogCapture log) {
        return log.warnings().stream().filter(line -> line.contains(CLUSTER)).toList();
    }

    private EasyCacheEngine cache(Duration probeInterval) {
        return EasyCacheEngine.builder(new JacksonValueCodec())
                .store(CLUSTER, new RedisEntryStore(factory, TIMEOUT))
                .circuitBreaker(new CircuitBreakerOptions(Duration.ofSeconds(10), 0.5, 1000, probeInterval, 2))
                .build();
    }

    private State state() {
        return Objects.requireNonNull(cache.availability(CLUSTER)).state();
    }

    private static void acl(String... rules) {
        command(Stream.concat(Stream.of("ACL", "SETUSER", "default"), Stream.of(rules))
                .toArray(String[]::new));
    }

    private static void command(String... words) {
        try (RawRedis redis = server.connect()) {
            redis.command(words);
        }
    }

    private static long rounds() {
        try (RawRedis redis = server.connect()) {
            String stats = redis.info("commandstats").get("cmdstat_hgetall");
            return Long.parseLong(stats.substring(stats.indexOf('=') + 1, stats.indexOf(',')));
        }
    }
}
