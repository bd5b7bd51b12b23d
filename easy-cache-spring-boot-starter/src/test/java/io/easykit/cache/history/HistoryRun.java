package io.easykit.cache.history;

import io.easykit.cache.CacheKey;
import io.easykit.cache.history.Client.HaltPoint;
import io.easykit.test.ChildJvm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.h2.tools.Server;

/**
 * Some processes with several clients each, on one database in this JVM and one Redis, and faults. At the end the calls of all
 * processes are checked.
 */
final class HistoryRun implements AutoCloseable {

    /** For anything that a busy machine may delay. */
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private static final int CLIENTS = 4;

    private final Path directory;
    private final Servers servers;
    private final Weakening weakening;
    private final long seed;
    private final SplittableRandom random;
    private final Server database;
    private final Table table;
    private final String url;
    private final List<ChildJvm> nodes = new ArrayList<>();
    private final List<String> names = new ArrayList<>();
    private final List<String> struck = new ArrayList<>();
    private final StringBuilder log = new StringBuilder();
    private int started;

    HistoryRun(Path directory, int nodes, Servers servers, Weakening weakening, long seed) {
        this.directory = directory;
        this.servers = servers;
        this.weakening = weakening;
        this.seed = seed;
        this.random = new SplittableRandom(seed);
        String name = "mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=60000";
        this.table = new Table("jdbc:h2:" + name);
        table.create(Caches.keys().stream().map(CacheKey::name).toList());
        try {
            this.database = Server.createTcpServer("-tcpPort", "0").start();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        this.url = "jdbc:h2:tcp://localhost:" + database.getPort() + "/" + name;
        long before = System.nanoTime();
        for (int i = 0; i < nodes; i++) {
            names.add("");
            this.nodes.add(start(i));
        }
        for (int i = 0; i < nodes; i++) {
            awaitStarted(i, before);
        }
    }

    /**
     * Lets random faults happen, some of them at the same time, for as long as this.
     *
     * @param only part of the names of these faults; empty for all
     */
    void suffer(Duration duration, String only) {
        List<Fault> faults = new ArrayList<>(servers.faults());
        for (int node = 0; node < nodes.size(); node++) {
            faults.addAll(faultsOf(node));
        }
        faults.removeIf(fault -> !fault.name().contains(only));
        long end = System.nanoTime() + duration.toNanos();
        while (System.nanoTime() - end < 0) {
            Fault one = faults.get(random.nextInt(faults.size()));
            Fault other = faults.get(random.nextInt(faults.size()));
            boolean both = random.nextInt(3) == 0
                    && !one.losesData()
                    && !other.losesData()
                    && !one.place().equals(other.place());
            Duration held = Duration.ofMillis(random.nextInt(300, 2_500));
            strike(held, both ? List.of(one, other) : List.of(one));
            if (one.losesData()) {
                goOn(Duration.ofNanos(
                        servers.losses().get(servers.losses().size() - 1).until() - System.nanoTime()));
            }
            goOn(Duration.ofMillis(random.nextInt(200, 2_500)));
        }
    }

    /** Lets these faults happen at the same time. */
    void strike(Duration held, List<Fault> faults) {
        List<Runnable> ends = new ArrayList<>();
        for (Fault fault : faults) {
            struck.add(fault.name());
            log.append(fault.name()).append(" at ").append(System.nanoTime()).append('\n');
            ends.add(fault.strike().get());
        }
        goOn(held);
        for (int i = ends.size() - 1; i >= 0; i--) {
            ends.get(i).run();
        }
    }

    List<Fault> faultsOf(int node) {
        return List.of(
                kill(node), halt(node, HaltPoint.BEFORE_COMMIT), halt(node, HaltPoint.AFTER_COMMIT), pause(node));
    }

    Fault kill(int node) {
        return new Fault("kill of node " + node, "node " + node, false, () -> {
            nodes.get(node).kill();
            return () -> restart(node);
        });
    }

    /** The process ends itself in the middle of an update. */
    Fault halt(int node, HaltPoint point) {
        return new Fault("halt of node " + node + " " + point, "node " + node, false, () -> {
            try {
                Files.createFile(Client.orderToHalt(directory, names.get(node), point));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            nodes.get(node).waitFor(PATIENCE);
            return () -> restart(node);
        });
    }

    Fault pause(int node) {
        return new Fault("pause of node " + node, "node " + node, false, () -> {
            nodes.get(node).pause();
            return nodes.get(node)::resume;
        });
    }

    /** Continues the load for some time. */
    static void goOn(Duration time) {
        long end = System.nanoTime() + time.toNanos();
        for (long left = time.toNanos(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(Math.min(left, TimeUnit.MILLISECONDS.toNanos(100)));
        }
    }

    /**
     * Ends the updates, waits until all caches have the values of the database, and checks the calls.
     *
     * @throws IllegalStateException if a cache keeps another value
     */
    Verdict finish() {
        try {
            Files.createFile(directory.resolve(HistoryNode.CALM));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        for (ChildJvm node : nodes) {
            node.awaitLine(HistoryNode.EQUAL::equals, PATIENCE);
            node.kill();
        }
        return Verdict.of(directory, servers.losses());
    }

    /** Returns the names of the faults so far. */
    List<String> faults() {
        return struck;
    }

    /** Returns the faults so far with their times, and the output of the processes. */
    String log() {
        StringBuilder all = new StringBuilder("seed " + seed + "\n").append(log);
        servers.losses().forEach(loss -> all.append(loss).append('\n'));
        nodes.forEach(node -> all.append(String.join("\n", node.lines())).append('\n'));
        return all.toString();
    }

    private void restart(int node) {
        nodes.get(node).close();
        long before = System.nanoTime();
        nodes.set(node, start(node));
        awaitStarted(node, before);
    }

    private ChildJvm start(int node) {
        names.set(node, "node" + node + "-" + started);
        return ChildJvm.start(
                HistoryNode.class,
                new HistoryNode.Settings(
                                names.get(node),
                                directory,
                                url,
                                servers.addressFor(node),
                                CLIENTS,
                                seed * 1_000 + started++,
                                weakening)
                        .asArguments());
    }

    /** The checkers compare times of several processes. */
    private void awaitStarted(int node, long earliest) {
        String line = nodes.get(node).awaitLine(one -> one.startsWith(HistoryNode.STARTED), PATIENCE);
        long clock = Long.parseLong(line.substring(HistoryNode.STARTED.length()));
        if (clock - earliest < 0 || System.nanoTime() - clock < 0) {
            throw new IllegalStateException("System.nanoTime() differs between processes on this system");
        }
    }

    @Override
    public void close() {
        nodes.forEach(ChildJvm::close);
        table.close();
        database.stop();
        servers.close();
    }
}
