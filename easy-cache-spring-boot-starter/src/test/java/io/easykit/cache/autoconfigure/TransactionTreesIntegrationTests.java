package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheUnavailableException;
import io.easykit.cache.Consistency;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.cache.autoconfigure.TransactionTree.Branch;
import io.easykit.cache.autoconfigure.TransactionTree.Call;
import io.easykit.cache.autoconfigure.TransactionTree.Fail;
import io.easykit.cache.autoconfigure.TransactionTree.MarkRollbackOnly;
import io.easykit.cache.autoconfigure.TransactionTree.Phase;
import io.easykit.cache.autoconfigure.TransactionTree.Publish;
import io.easykit.cache.autoconfigure.TransactionTree.Read;
import io.easykit.cache.autoconfigure.TransactionTree.ReadElsewhere;
import io.easykit.cache.autoconfigure.TransactionTree.Step;
import io.easykit.cache.autoconfigure.TransactionTree.Synchronize;
import io.easykit.cache.autoconfigure.TransactionTree.Write;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.event.TransactionPhase;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Random trees of transactions on two nodes and one database, with events, synchronizations and failures: afterwards the
 * cache holds nothing that the database does not.
 *
 * <p>One node has the transaction manager of JDBC, the other that of JPA. A strong read of another thread is compared with
 * the database at each place where it is drawn, and all rows when the tree has ended; weak reads when the stale window is
 * over. A tree that fails is repeated by its seed.
 *
 * <p>The value of a row is a number of pieces, and a write adds one. So no write waits for a lock that a transaction further
 * out in the same tree holds. H2 would wait for ever if that transaction had also rolled a savepoint back.
 */
class TransactionTreesIntegrationTests {

    private static final Logger log = LoggerFactory.getLogger(TransactionTreesIntegrationTests.class);

    /** Sets the first seed, to repeat a run. */
    private static final String SEED = "easykit.trees.seed";

    private static final List<Node> NODES = new ArrayList<>();
    private static final ExecutorService OTHERS = Executors.newCachedThreadPool();

    /** Generous: only a thread that hangs takes that long. */
    private static final Duration LONGEST_TREE = Duration.ofMinutes(3);

    private static final Duration LONGEST_READ = Duration.ofMinutes(1);

    private static long rows;

    /** Cached under both consistencies, in the near level, by batches and by futures. */
    static class Items {

        private final JdbcClient jdbc;

        Items(JdbcClient jdbc) {
            this.jdbc = jdbc;
        }

        @Cacheable(prefix = "tree-weak", keys = "#id", staleWindow = "300ms")
        public Integer weak(long id) {
            return stored(id);
        }

        @Cacheable(prefix = "tree-near", keys = "#id", staleWindow = "300ms", nearTtl = "300ms")
        public Integer near(long id) {
            return stored(id);
        }

        @Cacheable(prefix = "tree-strong", keys = "#id", consistency = Consistency.CP)
        public Integer strong(long id) {
            return stored(id);
        }

        @Cacheable(prefix = "tree-strong", keys = "#ids", batch = true, consistency = Consistency.CP)
        public Map<Long, Integer> strongBatch(Collection<Long> ids) {
            return ids.stream().collect(Collectors.toMap(id -> id, this::stored));
        }

        @Cacheable(prefix = "tree-strong", keys = "#id", consistency = Consistency.CP)
        public CompletableFuture<Integer> strongLater(long id) {
            return CompletableFuture.completedFuture(stored(id));
        }

        Integer stored(long id) {
            return jdbc.sql("select count(*) from tree_piece where item = ?")
                    .param(id)
                    .query(Integer.class)
                    .single();
        }

        @UpdateCache(prefix = "tree-weak", keys = "#id")
        @UpdateCache(prefix = "tree-near", keys = "#id")
        @UpdateCache(prefix = "tree-strong", keys = "#id")
        public void undeclared(long id, Runnable work) {
            work.run();
        }

        @UpdateCache(prefix = "tree-weak", keys = "#id")
        @UpdateCache(prefix = "tree-near", keys = "#id")
        @UpdateCache(prefix = "tree-strong", keys = "#id")
        @Transactional
        public void required(long id, Runnable work) {
            work.run();
        }

        @UpdateCache(prefix = "tree-weak", keys = "#id")
        @UpdateCache(prefix = "tree-near", keys = "#id")
        @UpdateCache(prefix = "tree-strong", keys = "#id")
        @Transactional(propagation = Propagation.REQUIRES_NEW)
        public void requiresNew(long id, Runnable work) {
            work.run();
        }

        @UpdateCache(prefix = "tree-weak", keys = "#id")
        @UpdateCache(prefix = "tree-near", keys = "#id")
        @UpdateCache(prefix = "tree-strong", keys = "#id")
        @Transactional(propagation = Propagation.NESTED)
        public void nested(long id, Runnable work) {
            work.run();
        }

        @UpdateCache(prefix = "tree-weak", keys = "#id")
        @UpdateCache(prefix = "tree-near", keys = "#id")
        @UpdateCache(prefix = "tree-strong", keys = "#id")
        @Transactional(propagation = Propagation.NOT_SUPPORTED)
        public void notSupported(long id, Runnable work) {
            work.run();
        }

        @UpdateCache(prefix = "tree-weak", keys = "#id")
        @UpdateCache(prefix = "tree-near", keys = "#id")
        @UpdateCache(prefix = "tree-strong", keys = "#id")
        @Transactional(propagation = Propagation.MANDATORY)
        public void mandatory(long id, Runnable work) {
            work.run();
        }

        @UpdateCache(prefix = "tree-weak", keys = "#id")
        @UpdateCache(prefix = "tree-near", keys = "#id")
        @UpdateCache(prefix = "tree-strong", keys = "#id")
        @Transactional(propagation = Propagation.NEVER)
        public void never(long id, Runnable work) {
            work.run();
        }

        void write(long id) {
            jdbc.sql("insert into tree_piece values (?)").param(id).update();
        }
    }

    /** Work for a listener of one phase. */
    record Event(Phase phase, Runnable work) {

        void runIn(Phase now) {
            if (phase == now) {
                work.run();
            }
        }
    }

    static class Listener {

        @TransactionalEventListener(phase = TransactionPhase.BEFORE_COMMIT)
        void beforeCommit(Event event) {
            event.runIn(Phase.BEFORE_COMMIT);
        }

        @TransactionalEventListener(phase = TransactionPhase.AFTER_COMMIT)
        void afterCommit(Event event) {
            event.runIn(Phase.AFTER_COMMIT);
        }

        @TransactionalEventListener(phase = TransactionPhase.AFTER_ROLLBACK)
        void afterRollback(Event event) {
            event.runIn(Phase.AFTER_ROLLBACK);
        }

        @TransactionalEventListener(phase = TransactionPhase.AFTER_COMPLETION)
        void afterCompletion(Event event) {
            event.runIn(Phase.AFTER_COMPLETION);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Shop {

        @Bean
        Items items(JdbcClient jdbc) {
            return new Items(jdbc);
        }

        @Bean
        Listener listener() {
            return new Listener();
        }
    }

    private record Node(
            ConfigurableApplicationContext context,
            Items items,
            PlatformTransactionManager transactions,
            ApplicationEventPublisher events) {

        static Node start(String... arguments) {
            RedisServer redis = RedisServer.shared();
            ConfigurableApplicationContext context = new SpringApplicationBuilder(Shop.class)
                    .properties(
                            "spring.data.redis.host=" + redis.host(),
                            "spring.data.redis.port=" + redis.port(),
                            "spring.datasource.url=jdbc:h2:mem:trees;DB_CLOSE_DELAY=-1",
                            // Hibernate keeps the connection of each transaction that Spring leaves open.
                            "spring.datasource.hikari.maximum-pool-size=200",
                            "easy-cache.command-timeout=10s",
                            // It logs each planned failure with its stack trace.
                            "logging.level.org.springframework.transaction.support.TransactionSynchronizationUtils=off")
                    .run(arguments);
            return new Node(
                    context, context.getBean(Items.class), context.getBean(PlatformTransactionManager.class), context);
        }

        void update(Propagation propagation, long id, Runnable work) {
            switch (propagation) {
                case SUPPORTS -> items.undeclared(id, work);
                case REQUIRED -> items.required(id, work);
                case REQUIRES_NEW -> items.requiresNew(id, work);
                case NESTED -> items.nested(id, work);
                case NOT_SUPPORTED -> items.notSupported(id, work);
                case MANDATORY -> items.mandatory(id, work);
                case NEVER -> items.never(id, work);
            }
        }

        TransactionTemplate in(Propagation propagation) {
            return new TransactionTemplate(transactions, new DefaultTransactionDefinition(propagation.value()));
        }
    }

    /** Thrown by the tree itself. */
    static final class PlannedFailure extends RuntimeException {

        private static final long serialVersionUID = 1L;
    }

    @BeforeAll
    static void start() {
        RedisServer.shared().flush();
        NODES.add(Node.start());
        NODES.add(Node.start("--spring.autoconfigure.exclude="));
        assertThat(NODES)
                .extracting(node -> node.transactions().getClass().getSimpleName())
                .containsExactly("JdbcTransactionManager", "JpaTransactionManager");
        jdbc().sql("create table tree_piece (item bigint)").update();
        jdbc().sql("create index tree_piece_item on tree_piece (item)").update();
    }

    @AfterAll
    static void stop() {
        NODES.forEach(node -> node.context().close());
        OTHERS.shutdownNow();
    }

    private static JdbcClient jdbc() {
        return NODES.get(0).context().getBean(JdbcClient.class);
    }

    /** A change of how trees are drawn makes other trees of these seeds. */
    @ParameterizedTest
    @ValueSource(longs = {5230983436216L, 69651392231807L})
    void leaveNothingInTheCacheWhereAFaultWasFound(long seed) throws Exception {
        grow(seed, 1, 0);
    }

    @Test
    void leaveNothingInTheCacheThatTheDatabaseDoesNotHold() throws Exception {
        grow(seed(), 40, 5);
    }

    @Tag("heavy")
    @Test
    void leaveNothingInTheCacheHoweverManyThereAre() throws Exception {
        grow(seed(), 2000, 500);
    }

    private static long seed() {
        long seed = Long.getLong(SEED, System.nanoTime());
        log.info("Random trees: repeat with -D{}={}", SEED, seed);
        return seed;
    }

    /**
     * @param seed of the first tree; the others have the next ones
     * @param alone how many trees run one after the other
     * @param together how many pairs of trees run beside each other on the same rows, one on each node
     */
    private static void grow(long seed, int alone, int together) throws Exception {
        List<Run> ended = new ArrayList<>();
        for (int i = 0; i < alone + together; i++) {
            Random random = new Random(seed + i);
            Run run = new Run(seed + i, i < alone, rows += TransactionTree.ROWS);
            run.fill();
            List<Future<?>> threads = new ArrayList<>();
            int first = random.nextInt(TransactionTree.NODES);
            threads.add(run.start(NODES.get(first), TransactionTree.random(random)));
            if (i >= alone) {
                threads.add(run.start(NODES.get(1 - first), TransactionTree.random(random)));
            }
            for (Future<?> thread : threads) {
                thread.get(LONGEST_TREE.toMillis(), TimeUnit.MILLISECONDS);
            }
            run.checkStrongReads();
            ended.add(run);
        }
        // The stale window of the last ones is not over yet.
        Awaitility.await()
                .atMost(LONGEST_READ)
                .pollInterval(Duration.ofMillis(100))
                .untilAsserted(() -> ended.forEach(Run::checkWeakReads));
        log.info(
                "{} trees, {} strong reads amid them",
                alone + 2 * together,
                ended.stream().mapToInt(run -> run.reads).sum());
    }

    private static <T> T elsewhere(Callable<T> work) {
        try {
            return OTHERS.submit(work).get(LONGEST_READ.toMillis(), TimeUnit.MILLISECONDS);
        } catch (Exception failure) {
            throw new AssertionError("A reader on another thread failed", failure);
        }
    }

    /** One tree, or two beside each other, on rows of their own. */
    private static final class Run {

        private final long seed;
        private final boolean alone;
        private final long firstRow;
        private final List<TransactionTree> trees = new ArrayList<>();
        private final Queue<String> faults = new ConcurrentLinkedQueue<>();
        private int reads;

        Run(long seed, boolean alone, long firstRow) {
            this.seed = seed;
            this.alone = alone;
            this.firstRow = firstRow;
        }

        void fill() {
            for (long id = firstRow; id < firstRow + TransactionTree.ROWS; id++) {
                NODES.get(0).items().weak(id);
                NODES.get(1).items().near(id);
                NODES.get(1).items().strong(id);
            }
        }

        Future<?> start(Node node, TransactionTree tree) {
            trees.add(tree);
            return OTHERS.submit(() -> {
                try {
                    call(node, tree.root());
                } catch (RuntimeException failure) {
                    noteUnplanned(failure);
                }
                if (!TransactionSynchronizationManager.getResourceMap().isEmpty()) {
                    faults.add("left on the thread: " + TransactionSynchronizationManager.getResourceMap());
                }
            });
        }

        private void noteUnplanned(RuntimeException failure) {
            if (NestedExceptionUtils.getMostSpecificCause(failure) instanceof CacheUnavailableException) {
                faults.add(failure.toString());
            }
        }

        private void call(Node node, Branch branch) {
            long id = firstRow + branch.row();
            Runnable work = () -> branch.steps().forEach(step -> run(node, id, step));
            if (branch.updates()) {
                node.update(branch.propagation(), id, work);
            } else {
                node.in(branch.propagation()).executeWithoutResult(status -> work.run());
            }
        }

        private void run(Node node, long id, Step step) {
            if (step instanceof Write) {
                node.items().write(id);
            } else if (step instanceof Read read) {
                read(node, read.row(), read.strong());
            } else if (step instanceof ReadElsewhere read) {
                readElsewhere(NODES.get(read.node()), read.row(), read.strong());
            } else if (step instanceof Call call) {
                callCaught(node, call.branch(), call.caught());
            } else if (step instanceof Publish publish) {
                node.events().publishEvent(new Event(publish.phase(), () -> callCaught(node, publish.branch(), false)));
            } else if (step instanceof Synchronize synchronize) {
                synchronize(node, synchronize);
            } else if (step instanceof MarkRollbackOnly) {
                node.in(Propagation.SUPPORTS).executeWithoutResult(status -> status.setRollbackOnly());
            } else if (step instanceof Fail) {
                throw new PlannedFailure();
            }
        }

        private void callCaught(Node node, Branch branch, boolean caught) {
            try {
                call(node, branch);
            } catch (RuntimeException failure) {
                noteUnplanned(failure);
                if (!caught) {
                    throw failure;
                }
            }
        }

        private void synchronize(Node node, Synchronize step) {
            if (!TransactionSynchronizationManager.isSynchronizationActive()) {
                return;
            }
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void beforeCommit(boolean readOnly) {
                    runIn(Phase.BEFORE_COMMIT);
                }

                @Override
                public void afterCommit() {
                    runIn(Phase.AFTER_COMMIT);
                }

                @Override
                public void afterCompletion(int status) {
                    runIn(status == STATUS_ROLLED_BACK ? Phase.AFTER_ROLLBACK : Phase.AFTER_COMPLETION);
                }

                private void runIn(Phase phase) {
                    if (phase == step.phase()) {
                        callCaught(node, step.branch(), phase != Phase.BEFORE_COMMIT);
                    }
                }
            });
        }

        private Integer read(Node node, int row, boolean strong) {
            long id = firstRow + row;
            int way = Math.floorMod(seed + row, 3);
            if (!strong) {
                return way == 0 ? node.items().weak(id) : node.items().near(id);
            }
            return switch (way) {
                case 0 -> node.items().strong(id);
                case 1 -> node.items().strongBatch(List.of(id)).get(id);
                default -> node.items().strongLater(id).join();
            };
        }

        /** Meanwhile the thread of the tree waits, so the database does not change. */
        private void readElsewhere(Node node, int row, boolean strong) {
            Integer found = elsewhere(() -> read(node, row, strong));
            if (alone && strong) {
                reads++;
                Integer stored = elsewhere(() -> node.items().stored(firstRow + row));
                if (!found.equals(stored)) {
                    faults.add("amid the tree row " + row + " was read as " + found + " instead of " + stored);
                }
            }
        }

        void checkStrongReads() {
            check(true);
        }

        void checkWeakReads() {
            check(false);
        }

        private void check(boolean strong) {
            for (Node node : NODES) {
                for (int row = 0; row < TransactionTree.ROWS; row++) {
                    assertThat(read(node, row, strong))
                            .as("row %s, strong = %s, of %s", row, strong, this)
                            .isEqualTo(node.items().stored(firstRow + row));
                }
            }
            assertThat(faults).as("%s", this).isEmpty();
        }

        @Override
        public String toString() {
            return "the trees of seed " + seed + ": "
                    + String.join("; ", Stream.of(trees).map(String::valueOf).toList());
        }
    }
}
