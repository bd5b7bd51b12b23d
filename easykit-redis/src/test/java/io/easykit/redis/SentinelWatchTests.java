package io.easykit.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;
import static org.awaitility.Awaitility.await;

import io.lettuce.core.AbstractRedisClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

class SentinelWatchTests {

    /** Of an attempt to connect. Generous: the machine may be busy, and the next attempt is ten seconds later. */
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private static final String LOCALHOST = "127.0.0.1";
    private static final int PROMOTED = 1;
    private static final int FORMER = 2;

    /** Not before the watch is made, which takes seconds on a busy machine. */
    private long begin;

    private final AtomicInteger replacements = new AtomicInteger();
    private @Nullable LettuceConnectionFactory factory;
    private SentinelWatch watch;

    @Test
    void isNeededWithSentinelsOnly() {
        LettuceConnectionFactory single = new LettuceConnectionFactory(new RedisStandaloneConfiguration());

        assertThat(SentinelWatch.of(single, new SharedConnection(single), () -> {}))
                .isNull();
    }

    /** The driver logs each sentinel that it cannot reach. */
    @Test
    void triesTheSentinelsRarelyWhileNoneCanBeReached() throws IOException {
        AtomicInteger attempts = new AtomicInteger();
        try (ServerSocket broken = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            closeConnections(broken, attempts);
            LettuceConnectionFactory factory = DedicatedConnections.copyOf(
                    new LettuceConnectionFactory(new RedisSentinelConfiguration()
                            .master("master")
                            .sentinel(broken.getInetAddress().getHostAddress(), broken.getLocalPort())),
                    TIMEOUT);
            factory.start();
            SentinelWatch watch = requireNonNull(
                    SentinelWatch.of(factory, new SharedConnection(factory), () -> fail("There is no other master")));
            long now = System.nanoTime();

            for (int second = 0; second < 10; second++) {
                watch.queryIfDue(now + Duration.ofSeconds(second).toNanos());
                awaitEndOfTheAttempt();
            }
            assertThat(attempts).hasValue(1);

            watch.queryIfDue(now + Duration.ofSeconds(10).toNanos());
            awaitEndOfTheAttempt();
            assertThat(attempts).hasValue(2);
            factory.destroy();
        }
    }

    @Test
    void queriesAgainAfterAnErrorSuchAsOfAThreadThatCouldNotBeMade() {
        AtomicInteger errors = new AtomicInteger();
        LettuceConnectionFactory failing =
                new LettuceConnectionFactory(
                        new RedisSentinelConfiguration().master("master").sentinel(LOCALHOST, 1)) {
                    @Override
                    public AbstractRedisClient getNativeClient() {
                        errors.incrementAndGet();
                        throw new OutOfMemoryError("unable to create native thread");
                    }
                };
        SentinelWatch failed = requireNonNull(
                SentinelWatch.of(failing, new SharedConnection(failing), () -> fail("There is no other master")));

        begin = System.nanoTime();
        failed.queryIfDue(begin + Duration.ofSeconds(1).toNanos());
        await().until(failed::isIdle);
        failed.queryIfDue(begin + Duration.ofSeconds(60).toNanos());
        await().until(failed::isIdle);
        assertThat(errors).hasValue(2);

        failed.onCall(begin);
        failed.onCall(begin);
        assertThat(errors).hasValue(4);
    }

    @Test
    void queriesAgainAfterACallWhoseThreadLocalsCannotBeInherited() {
        InheritableThreadLocal<String> uncopied = new InheritableThreadLocal<>() {
            @Override
            protected String childValue(String parentValue) {
                throw new IllegalStateException("cannot be copied");
            }
        };
        LettuceConnectionFactory none = new LettuceConnectionFactory(
                new RedisSentinelConfiguration().master("master").sentinel(LOCALHOST, 1));
        SentinelWatch any = requireNonNull(
                SentinelWatch.of(none, new SharedConnection(none), () -> fail("There is no other master")));
        uncopied.set("value");
        begin = System.nanoTime();
        try {
            any.queryIfDue(begin + Duration.ofSeconds(1).toNanos());
        } catch (IllegalStateException alsoTheCaller) {
            // The next call queries.
        } finally {
            uncopied.remove();
        }

        await().until(any::isIdle);
    }

    /** New connections query the first sentinel. The watch queries another one, whose data are old. */
    @Test
    void doesNotLeaveAMasterForEverBecauseOfASentinelThatIsWrong() throws IOException {
        try (NamingSentinel first = new NamingSentinel(PROMOTED);
                NamingSentinel wrong = new NamingSentinel(FORMER)) {
            start(first, wrong);
            query(1, 3);
            first.refuse(true);
            query(4, 7);
            assertThat(replacements.get()).isGreaterThanOrEqualTo(1);

            first.refuse(false);
            query(8, 30);
        }
        assertThat(replacements.get()).isLessThan(7);
    }

    /** The driver would make a lost connection again by itself. */
    @Test
    void leavesNoConnectionToASentinelThatItHasLeft() throws IOException {
        try (NamingSentinel first = new NamingSentinel(PROMOTED);
                NamingSentinel second = new NamingSentinel(PROMOTED)) {
            start(first, second);
            query(1, 3);
            int before = first.attempts.get();
            first.refuse(true);
            await().until(() -> first.attempts.get() > before);
            query(4, 7);
            int left = first.attempts.get();

            // It would try again after half a second at most.
            await().during(Duration.ofSeconds(1)).until(() -> first.attempts.get() == left);
        }
    }

    /** The sentinels have another name for its server than the driver. */
    @Test
    void leavesAMasterMoreAndMoreRarelyIfNewConnectionsLeadToItAgain() throws IOException {
        try (NamingSentinel sentinel = new NamingSentinel(PROMOTED)) {
            start(sentinel);
            query(1, 3);
            sentinel.named = FORMER;

            query(4, 7);
            assertThat(replacements.get()).isGreaterThanOrEqualTo(2);
            query(8, 70);
        }
        assertThat(replacements.get()).isLessThan(10);
    }

    /** Begins a query for each of these seconds. A query whose sentinel is away connects to another one in the next second. */
    private void query(int from, int to) {
        for (int second = from; second <= to; second++) {
            watch.queryIfDue(begin + Duration.ofSeconds(second).toNanos());
            await().until(watch::isIdle);
        }
    }

    private void start(NamingSentinel... sentinels) {
        RedisSentinelConfiguration configuration = new RedisSentinelConfiguration().master("master");
        for (NamingSentinel sentinel : sentinels) {
            configuration.sentinel(LOCALHOST, sentinel.port());
        }
        factory = DedicatedConnections.copyOf(new LettuceConnectionFactory(configuration), TIMEOUT);
        factory.start();
        SharedConnection connection = new SharedConnection(factory);
        watch = requireNonNull(SentinelWatch.of(factory, connection, () -> {
            replacements.incrementAndGet();
            connection.reconnected(new InetSocketAddress(InetAddress.getLoopbackAddress(), PROMOTED));
        }));
        begin = System.nanoTime();
    }

    @AfterEach
    void stop() {
        if (factory != null) {
            factory.destroy();
        }
    }

    private static void closeConnections(ServerSocket server, AtomicInteger accepted) {
        Thread thread = new Thread(() -> {
            try {
                while (true) {
                    server.accept().close();
                    accepted.incrementAndGet();
                }
            } catch (IOException end) {
                // The test is over.
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private static void awaitEndOfTheAttempt() {
        await().until(() -> Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().equals("easykit-redis-sentinel")));
    }

    /** Returns the port of a master that it is given, whatever is true. */
    private static final class NamingSentinel implements AutoCloseable {

        private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        private final Queue<Socket> clients = new ConcurrentLinkedQueue<>();
        private final AtomicInteger attempts = new AtomicInteger();
        private volatile boolean refuses;
        private volatile int named;

        NamingSentinel(int named) throws IOException {
            this.named = named;
            daemon(this::acceptAll);
        }

        int port() {
            return server.getLocalPort();
        }

        /** While on, closes its connections. */
        void refuse(boolean on) throws IOException {
            refuses = on;
            for (Socket client : clients) {
                client.close();
            }
        }

        @Override
        public void close() throws IOException {
            server.close();
            for (Socket client : clients) {
                client.close();
            }
        }

        private void acceptAll() throws IOException {
            while (true) {
                Socket client = server.accept();
                attempts.incrementAndGet();
                if (refuses) {
                    client.close();
                } else {
                    clients.add(client);
                    daemon(() -> reply(client));
                }
            }
        }

        private void reply(Socket client) throws IOException {
            BufferedReader lines = new BufferedReader(new InputStreamReader(client.getInputStream(), US_ASCII));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                List<String> command = new ArrayList<>();
                for (int left = Integer.parseInt(line.substring(1)); left > 0; left--) {
                    lines.readLine(); // the length
                    command.add(lines.readLine());
                }
                String reply =
                        switch (command.get(0)) {
                            case "HELLO" -> "-ERR unknown command";
                            case "SENTINEL" -> "*2\r\n$9\r\n" + LOCALHOST + "\r\n$1\r\n" + named;
                            default -> "+PONG";
                        };
                client.getOutputStream().write((reply + "\r\n").getBytes(US_ASCII));
            }
        }

        private static void daemon(ThrowingRunnable task) {
            Thread thread = new Thread(() -> {
                try {
                    task.run();
                } catch (IOException end) {
                    // The connection or the test is over.
                }
            });
            thread.setDaemon(true);
            thread.start();
        }

        private interface ThrowingRunnable {
            void run() throws IOException;
        }
    }
}
