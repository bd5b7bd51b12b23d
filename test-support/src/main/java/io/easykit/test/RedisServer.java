package io.easykit.test;

import io.easykit.test.RawRedis.RedisError;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A real Redis server owned by a test, which may kill, pause, restart and fail it over.
 *
 * <p>It listens on a free port, stores nothing on disk by default (see {@code "--appendonly", "yes"}), and ends with
 * the JVM at the latest. A test that only needs an empty keyspace uses {@link #shared()}, which is free after the first
 * call.
 */
public final class RedisServer implements AutoCloseable {

    /** System property: a command that runs the server program, such as {@code valgrind}. Not for containers. */
    public static final String UNDER = "easykit.test.redis.under";

    private static final Duration READY_WITHIN = Duration.ofSeconds(30);
    private static final Duration REPLY_WITHIN = Duration.ofSeconds(10);
    private static final Duration LOOK_TIMEOUT = Duration.ofMillis(200);
    private static final int PORT_ATTEMPTS = 20;
    private static final Set<String> OURS = Set.of("--port", "--bind", "--dir", "--daemonize", "--logfile");
    private static final List<String> DEFAULTS = List.of(
            "--save", "", "--protected-mode", "no", "--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0");

    private final RedisBackend.Instance instance;
    private final @Nullable String password;
    private final boolean tls;
    private final boolean shared;
    private final Thread closeOnShutdown;
    private String product = "Redis";
    private String version = "";
    private boolean closed;

    private RedisServer(RedisBackend.Instance instance, @Nullable String password, boolean tls, boolean shared) {
        this.instance = instance;
        this.password = password;
        this.tls = tls;
        this.shared = shared;
        this.closeOnShutdown = new Thread(instance::close, "close-redis-" + instance.port());
    }

    /**
     * Starts a server and waits until it replies.
     *
     * @param arguments options of redis-server, such as {@code "--appendonly", "yes"}
     * @throws IllegalArgumentException for an option that this class sets, such as the port
     * @throws IllegalStateException if this machine cannot run Redis, or Redis rejects the options
     */
    public static RedisServer start(String... arguments) {
        return start(false, arguments);
    }

    /**
     * Returns the server shared by all tests of this JVM. {@link #flush()} empties it.
     *
     * <p>It cannot be killed, paused, restarted, closed, or made a replica.
     */
    public static RedisServer shared() {
        return Shared.SERVER;
    }

    /** Starts a sentinel without masters, with the certificate of the servers if they have one. */
    static RedisServer startSentinel(String... ofTheServers) {
        boolean tls = TlsCertificate.isUsedBy(List.of(ofTheServers));
        List<String> arguments = tls ? List.of(TlsCertificate.shared().options()) : List.of();
        return start(() -> new RedisServer(backend(tls).prepareSentinel(arguments), null, tls, false));
    }

    private static RedisServer start(boolean shared, String... arguments) {
        List<String> options = new ArrayList<>(DEFAULTS);
        options.addAll(checked(List.of(arguments)));
        String password = valueOf("--requirepass", arguments);
        boolean tls = TlsCertificate.isUsedBy(options);
        return start(() -> new RedisServer(backend(tls).prepare(options), password, tls, shared));
    }

    /** A container cannot read the certificate. */
    private static RedisBackend backend(boolean tls) {
        return tls ? RedisBackends.ofProcesses() : RedisBackends.current();
    }

    private static RedisServer start(Supplier<RedisServer> prepare) {
        for (int attempt = 1; ; attempt++) {
            RedisServer server = prepare.get();
            try {
                server.launch();
                Runtime.getRuntime().addShutdownHook(server.closeOnShutdown);
                return server;
            } catch (PortTaken e) {
                server.instance.close();
                if (attempt == PORT_ATTEMPTS) {
                    throw e;
                }
            } catch (RuntimeException e) {
                server.instance.close();
                throw e;
            }
        }
    }

    public String host() {
        return instance.host();
    }

    public int port() {
        return instance.port();
    }

    /** Returns the address in the format of {@code spring.data.redis.url}, with the password if there is one. */
    public String uri() {
        return (tls ? "rediss://" : "redis://") + (password == null ? "" : ":" + password + "@") + host() + ":"
                + port();
    }

    /** Returns the version of the server, for example {@code 6.2.11}. For Valkey it is Valkey's own version. */
    public String version() {
        return version;
    }

    /** Whether the program is running, paused or not. */
    public boolean isRunning() {
        return !closed && instance.isRunning();
    }

    /** Opens a connection to inspect the server, authenticated if it has a password. */
    public RawRedis connect() {
        return connect(REPLY_WITHIN);
    }

    /** Removes every key. Scripts and settings stay. */
    public void flush() {
        try (RawRedis redis = connect()) {
            redis.command("FLUSHALL");
        }
    }

    /**
     * Kills the server (SIGKILL).
     *
     * <p>The port of a process then refuses connections. For a container Docker still accepts them, and closes them at
     * once. {@link TcpProxy#cut()} refuses them in both cases.
     */
    public void kill() {
        owned().kill();
    }

    /** Stops the server (SIGSTOP): connections stay open, without replies. */
    public void pause() {
        owned().pause();
    }

    /** Continues a paused server (SIGCONT). */
    public void resume() {
        owned().resume();
    }

    /**
     * Kills the server if it is running, and starts it again on the same port and directory.
     *
     * <p>The data survive only with {@code "--appendonly", "yes"}. A replica becomes a master.
     */
    public void restart() {
        if (owned().isRunning()) {
            instance.kill();
        }
        launch();
    }

    /** Makes this server a replica of another one, and waits until it has the same data. */
    public void replicaOf(RedisServer primary) {
        owned();
        try (RawRedis redis = connect()) {
            redis.command("CONFIG", "SET", "masterauth", primary.password == null ? "" : primary.password);
            redis.command("REPLICAOF", primary.host(), String.valueOf(primary.port()));
            Waiting.until(
                    READY_WITHIN,
                    () -> "up".equals(redis.info("replication").get("master_link_status")),
                    () -> this + " does not follow " + primary + ": " + redis.info("replication"));
        }
    }

    /** Makes a replica a master again, with its present data. */
    public void promote() {
        owned();
        try (RawRedis redis = connect()) {
            redis.command("REPLICAOF", "NO", "ONE");
        }
    }

    /** Whether the server replies and is a master. */
    boolean isMaster() {
        return "master".equals(replication().get("role"));
    }

    /** Whether exactly these servers are masters, and the others are replicas with their data. */
    static boolean follow(List<RedisServer> servers, List<RedisServer> masters) {
        return servers.stream().allMatch(server -> {
            Map<String, String> replication = server.replication();
            return masters.contains(server)
                    ? "master".equals(replication.get("role"))
                    : "slave".equals(replication.get("role")) && "up".equals(replication.get("master_link_status"));
        });
    }

    /** Empty if the server does not reply within {@link #LOOK_TIMEOUT}. */
    private Map<String, String> replication() {
        if (!isRunning()) {
            return Map.of();
        }
        try (RawRedis redis = connect(LOOK_TIMEOUT)) {
            return redis.info("replication");
        } catch (UncheckedIOException | RedisError away) {
            return Map.of();
        }
    }

    /** Kills the server and deletes its data. A second call has no effect. */
    @Override
    public void close() {
        if (!closed) {
            owned().close();
            closed = true;
            forgetShutdown();
        }
    }

    @Override
    public String toString() {
        return product + " " + version + " at " + host() + ":" + port();
    }

    private void launch() {
        instance.start();
        Waiting.until(READY_WITHIN, this::isReady, () -> "Redis does not reply after " + READY_WITHIN + log());
    }

    private boolean isReady() {
        if (!instance.isRunning()) {
            String log = log();
            throw log.contains("Address already in use")
                    ? new PortTaken("Port " + port() + " is taken" + log)
                    : new IllegalStateException("redis-server ended while it started" + log);
        }
        try (RawRedis redis = connect(Duration.ofSeconds(1))) {
            redis.command("PING");
            Map<String, String> info = redis.info("server");
            product = info.containsKey("valkey_version") ? "Valkey" : "Redis";
            version = info.getOrDefault("valkey_version", info.getOrDefault("redis_version", ""));
            return instance.owns(info);
        } catch (UncheckedIOException | RedisError e) {
            return false;
        }
    }

    /** @param timeout maximum time to wait for the connection, and for each reply */
    RawRedis connect(Duration timeout) {
        RawRedis redis = RawRedis.connect(
                host(), port(), timeout, tls ? TlsCertificate.shared().context() : null);
        try {
            if (password != null) {
                redis.command("AUTH", password);
            }
            return redis;
        } catch (RuntimeException e) {
            redis.close();
            throw e;
        }
    }

    private void forgetShutdown() {
        try {
            Runtime.getRuntime().removeShutdownHook(closeOnShutdown);
        } catch (IllegalStateException e) {
            // The JVM is shutting down. The hook has nothing left to do.
        }
    }

    private RedisBackend.Instance owned() {
        if (shared) {
            throw new IllegalStateException(
                    "The shared Redis is used by all tests. Use RedisServer.start() for a server that can be"
                            + " disturbed.");
        }
        if (closed) {
            throw new IllegalStateException(this + " is closed. Start another one.");
        }
        return instance;
    }

    private String log() {
        return "; its output:" + System.lineSeparator() + instance.log();
    }

    private static List<String> checked(List<String> arguments) {
        for (String argument : arguments) {
            if (OURS.contains(argument)) {
                throw new IllegalArgumentException(
                        "Option " + argument + " is set by RedisServer. Remove it and use the methods of the server.");
            }
        }
        return arguments;
    }

    private static @Nullable String valueOf(String option, String... arguments) {
        int index = List.of(arguments).indexOf(option);
        return index < 0 ? null : arguments[index + 1];
    }

    private static final class Shared {
        static final RedisServer SERVER = start(true);
    }

    /** Another process has bound the port first. */
    private static final class PortTaken extends IllegalStateException {
        PortTaken(String message) {
            super(message);
        }
    }
}
