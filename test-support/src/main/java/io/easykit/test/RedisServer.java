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
 * One real Redis server that a test owns and may kill, pause, restart and fail over.
 *
 * <p>It listens on a free port, keeps nothing on disk unless told to (for example {@code "--appendonly", "yes"}), and
 * ends with the JVM at the latest. A test that only needs an empty keyspace takes {@link #shared()}, which costs
 * nothing after the first time.
 */
public final class RedisServer implements AutoCloseable {
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
     * Starts a server and waits until it answers.
     *
     * @param arguments options of redis-server, such as {@code "--appendonly", "yes"}
     * @throws IllegalArgumentException where an option is one that is chosen here, such as the port
     * @throws IllegalStateException where this machine cannot run Redis, or Redis refuses the options
     */
    public static RedisServer start(String... arguments) {
        return start(false, arguments);
    }

    /**
     * The server that all tests of this JVM share; {@link #flush()} empties it.
     *
     * <p>It cannot be killed, paused, restarted, made a replica, or closed.
     */
    public static RedisServer shared() {
        return Shared.SERVER;
    }

    /** Starts a sentinel that watches nothing yet, with the certificate of the servers if they have one. */
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

    /** A container does not see the certificate. */
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

    /** The address in the form that {@code spring.data.redis.url} takes, with the password where there is one. */
    public String uri() {
        return (tls ? "rediss://" : "redis://") + (password == null ? "" : ":" + password + "@") + host() + ":"
                + port();
    }

    /** The version of the server, for example {@code 6.2.11}; of Valkey its own, not that of the Redis it resembles. */
    public String version() {
        return version;
    }

    /** Whether the program runs; a paused one does. */
    public boolean isRunning() {
        return !closed && instance.isRunning();
    }

    /** Opens a connection to look at the server; it is authenticated where the server has a password. */
    public RawRedis connect() {
        return connect(REPLY_WITHIN);
    }

    /** Removes every key; scripts and settings stay. */
    public void flush() {
        try (RawRedis redis = connect()) {
            redis.command("FLUSHALL");
        }
    }

    /**
     * Kills the server without a chance to say good-bye (SIGKILL).
     *
     * <p>A process leaves a port that refuses connections. In front of a container Docker still accepts them, and closes
     * them at once; {@link TcpProxy#cut()} refuses them in either case.
     */
    public void kill() {
        owned().kill();
    }

    /** Stops the server in its tracks (SIGSTOP): connections stay open, and nothing is answered. */
    public void pause() {
        owned().pause();
    }

    /** Lets a paused server go on (SIGCONT). */
    public void resume() {
        owned().resume();
    }

    /**
     * Kills the server where it runs, and starts it again on the same port and directory.
     *
     * <p>The data survives only with {@code "--appendonly", "yes"}. A replica comes back as a master.
     */
    public void restart() {
        if (owned().isRunning()) {
            instance.kill();
        }
        launch();
    }

    /** Makes this server a replica of another one, and waits until it holds the same data. */
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

    /** Makes a replica a master again, with the data it has. */
    public void promote() {
        owned();
        try (RawRedis redis = connect()) {
            redis.command("REPLICAOF", "NO", "ONE");
        }
    }

    /** Whether the server answers and considers itself a master. */
    boolean isMaster() {
        return "master".equals(replication().get("role"));
    }

    /** Whether these masters are all masters among the servers, and the others are replicas that hold their data. */
    static boolean follow(List<RedisServer> servers, List<RedisServer> masters) {
        return servers.stream().allMatch(server -> {
            Map<String, String> replication = server.replication();
            return masters.contains(server)
                    ? "master".equals(replication.get("role"))
                    : "slave".equals(replication.get("role")) && "up".equals(replication.get("master_link_status"));
        });
    }

    /** Empty if the server does not answer within a moment. */
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

    /** Kills the server and deletes its data; a second call does nothing. */
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
        Waiting.until(READY_WITHIN, this::isReady, () -> "Redis does not answer after " + READY_WITHIN + log());
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

    /** @param timeout longest wait for the connection, and for each reply */
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
            // The JVM is on its way down, and the hook will find nothing left to do.
        }
    }

    private RedisBackend.Instance owned() {
        if (shared) {
            throw new IllegalStateException(
                    "The shared Redis belongs to all tests; take RedisServer.start() for one to be disturbed");
        }
        if (closed) {
            throw new IllegalStateException(this + " is closed; start another one");
        }
        return instance;
    }

    private String log() {
        return "; it said:" + System.lineSeparator() + instance.log();
    }

    private static List<String> checked(List<String> arguments) {
        for (String argument : arguments) {
            if (OURS.contains(argument)) {
                throw new IllegalArgumentException(
                        "Option " + argument + " is chosen by RedisServer; leave it out and ask the server");
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

    /** Somebody was quicker to bind the port. */
    private static final class PortTaken extends IllegalStateException {
        PortTaken(String message) {
            super(message);
        }
    }
}
