package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.Availability;
import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.EasyCache;
import io.easykit.cache.InvalidCacheCallException;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import io.micrometer.context.ContextRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.reactivestreams.Publisher;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ReactiveTypeDescriptor;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.test.util.AopTestUtils;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** Methods with easy-cache's own annotations that return futures or publishers. */
class AsyncMethodsIntegrationTests {

    private static final Duration WAIT = Duration.ofSeconds(30);
    private static final ThreadLocal<String> TRACE = new ThreadLocal<>();
    private static final ThreadLocal<String> TENANT = ThreadLocal.withInitial(() -> "default");

    record User(long id, String name) {}

    /** A publisher of a library, such as a Single. */
    static final class OneValue<T> {

        private final Publisher<T> source;

        OneValue(Publisher<T> source) {
            this.source = source;
        }
    }

    public static class Tenants {

        public String current() {
            return TENANT.get();
        }
    }

    interface Finder<T> {

        @Cacheable(prefix = "generic", keys = "#id")
        T find(long id);
    }

    static class LaterFinder implements Finder<CompletableFuture<User>> {

        private final AtomicInteger calls = new AtomicInteger();

        @Override
        public CompletableFuture<User> find(long id) {
            return CompletableFuture.completedFuture(new User(id, "call " + calls.incrementAndGet()));
        }
    }

    static class Users {

        final Map<Long, String> rows = new ConcurrentHashMap<>();
        final AtomicInteger loads = new AtomicInteger();
        final List<String> threads = new CopyOnWriteArrayList<>();
        final List<Collection<Long>> batches = new CopyOnWriteArrayList<>();

        /** Ends each load, when the row has been read. */
        volatile CompletableFuture<?> mayLoad = CompletableFuture.completedFuture(null);

        /** Ends each update, when the row has been changed. */
        volatile CompletableFuture<?> mayEnd = CompletableFuture.completedFuture(null);

        /** The thread of the present update. It waits, without a bound, for nothing but the result of the method. */
        volatile @Nullable Thread updating;

        volatile @Nullable Throwable failure;

        @Cacheable(prefix = "user", keys = "#id")
        public @Nullable User find(long id) {
            return load(id).join();
        }

        @Cacheable(prefix = "user", keys = "#id")
        public CompletableFuture<User> findLater(long id) {
            return load(id);
        }

        @Cacheable(prefix = "user", keys = "#id")
        public CompletionStage<User> findStage(long id) {
            return load(id);
        }

        @Cacheable(prefix = "user", keys = "#id")
        public Mono<User> findReactively(long id) {
            return Mono.fromFuture(() -> load(id), true);
        }

        @Cacheable(prefix = "user", keys = "#id")
        public OneValue<User> findOne(long id) {
            return new OneValue<>(Mono.fromFuture(() -> load(id), true));
        }

        @Cacheable(prefix = "user", keys = "#ids", batch = true)
        public CompletableFuture<Map<Long, User>> findAllLater(Collection<Long> ids) {
            batches.add(List.copyOf(ids));
            return CompletableFuture.supplyAsync(() -> all(ids));
        }

        @Cacheable(prefix = "user", keys = "#ids", batch = true)
        public Mono<List<User>> findAllReactively(List<Long> ids) {
            batches.add(List.copyOf(ids));
            return Mono.fromCallable(() -> {
                Map<Long, User> found = all(ids);
                List<User> users = new ArrayList<>();
                ids.forEach(id -> users.add(found.get(id)));
                return users;
            });
        }

        private Map<Long, User> all(Collection<Long> ids) {
            Map<Long, User> found = new LinkedHashMap<>();
            ids.stream().filter(rows::containsKey).forEach(id -> found.put(id, new User(id, rows.get(id))));
            return found;
        }

        @Cacheable(
                prefix = "some",
                keys = "#id",
                condition = "#id > 0",
                unless = "#result != null && #result.name == 'secret'")
        public CompletableFuture<Optional<User>> findSome(long id) {
            threads.add(Thread.currentThread().getName());
            return load(id).thenApply(Optional::ofNullable);
        }

        @Cacheable(prefix = "some", keys = "#id")
        public Optional<User> findSomeNow(long id) {
            return Optional.ofNullable(load(id).join());
        }

        @Cacheable(prefix = "early", keys = "#id")
        public CompletableFuture<User> failEarly(long id) throws IOException {
            throw new IOException("no future for " + id);
        }

        @Cacheable(prefix = "no-future", keys = "#id")
        public CompletableFuture<User> noFuture(long id) {
            loads.incrementAndGet();
            return null;
        }

        @Cacheable(prefix = "context", keys = "#id")
        public Mono<String> withContext(long id) {
            loads.incrementAndGet();
            return Mono.deferContextual(context -> Mono.just(context.get("tenant") + " " + id));
        }

        @Cacheable(prefix = "trace", keys = "#id")
        public CompletableFuture<String> withTrace(long id) {
            return CompletableFuture.completedFuture(TRACE.get() + " " + id);
        }

        @Cacheable(
                prefix = "tenant",
                keys = {"@tenants.current()", "#id"})
        public CompletableFuture<String> ofTenant(long id) {
            loads.incrementAndGet();
            return CompletableFuture.completedFuture(TENANT.get() + id);
        }

        @Cacheable(
                prefix = "tenant",
                keys = {"@tenants.current()", "#id"})
        public Mono<String> ofTenantReactively(long id) {
            loads.incrementAndGet();
            return Mono.just(TENANT.get() + id);
        }

        @UpdateCache(
                prefix = "tenant",
                keys = {"@tenants.current()", "#id"})
        public Mono<String> changeOfTenant(long id) {
            loads.incrementAndGet();
            return Mono.just(TENANT.get() + id);
        }

        /** Changes its key. An argument of this class cannot be copied. */
        @Cacheable(prefix = "next", keys = "#from.get()")
        public Mono<Long> next(AtomicLong from) {
            loads.incrementAndGet();
            return Mono.just(from.incrementAndGet());
        }

        @Cacheable(prefix = "deep", keys = "#depth")
        public CompletableFuture<String> deep(int depth, Users self) {
            return depth == 0
                    ? CompletableFuture.completedFuture("deep")
                    : CompletableFuture.completedFuture(
                            self.deep(depth - 1, self).join());
        }

        @Cacheable(prefix = "own", keys = "#id")
        public CompletableFuture<String> ownKey(long id, @Nullable Users self) {
            return self == null
                    ? CompletableFuture.completedFuture("inner")
                    : self.ownKey(id, null).thenApply(inner -> "outer of " + inner);
        }

        @Cacheable(prefix = "window", keys = "#id", staleWindow = "1m")
        public CompletableFuture<String> inWindow(long id) {
            threads.add(Thread.currentThread().getName());
            return CompletableFuture.supplyAsync(() -> rows.get(id));
        }

        @UpdateCache(prefix = "window", keys = "#id")
        public void change(long id, String name) {
            rows.put(id, name);
        }

        @Cacheable(prefix = "kept", keys = "#id", ttl = "10ms", staleOnError = "1h")
        public Mono<User> kept(long id) {
            return Mono.fromFuture(() -> load(id), true);
        }

        @Async
        @Cacheable(prefix = "async", keys = "#id")
        public CompletableFuture<User> findAsync(long id) {
            threads.add(Thread.currentThread().getName());
            return load(id);
        }

        @Cacheable(prefix = "in-transaction", keys = "#id")
        public CompletableFuture<Boolean> inTransaction(long id) {
            return CompletableFuture.completedFuture(TransactionSynchronizationManager.isActualTransactionActive());
        }

        @UpdateCache(prefix = "user", keys = "#user.id")
        public CompletableFuture<User> renameLater(User user) {
            return store(user);
        }

        @UpdateCache(prefix = "user", keys = "#user.id")
        public CompletionStage<User> renameStage(User user) {
            return store(user);
        }

        @UpdateCache(prefix = "user", keys = "#user.id")
        public Mono<User> renameReactively(User user) {
            return Mono.fromFuture(() -> store(user), true);
        }

        @UpdateCache(prefix = "user", keys = "#user.id")
        public OneValue<User> renameOne(User user) {
            return new OneValue<>(Mono.fromFuture(() -> store(user), true));
        }

        @UpdateCache(prefix = "user", keys = "#result.id", condition = "#result.name != 'same'")
        public Mono<User> create(long id, String name) {
            return Mono.fromFuture(() -> store(new User(id, name)), true);
        }

        @UpdateCache(prefix = "user", keys = "#ids", batch = true, condition = "#really")
        public CompletableFuture<Void> removeAll(List<Long> ids, boolean really) {
            threads.add(Thread.currentThread().getName());
            ids.forEach(rows::remove);
            return CompletableFuture.completedFuture(null);
        }

        @UpdateCache(prefix = "user", keys = "#ids", batch = true)
        public Mono<Void> removeAllReactively(List<Long> ids) {
            return Mono.fromRunnable(() -> ids.forEach(rows::remove));
        }

        /** Commits before it returns. */
        @UpdateCache(prefix = "user", keys = "#user.id")
        @Transactional
        public CompletableFuture<User> renameInTransaction(User user, Runnable beforeCommit, Runnable afterCommit) {
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void beforeCommit(boolean readOnly) {
                    beforeCommit.run();
                }

                @Override
                public void afterCommit() {
                    afterCommit.run();
                }
            });
            return store(user);
        }

        @Cacheable(prefix = "serial", keys = "#id")
        public CompletableFuture<String> findSerial(long id) {
            return CompletableFuture.supplyAsync(() -> rows.get(id));
        }

        @UpdateCache(prefix = "serial", keys = "#id")
        public CompletableFuture<Boolean> changeSerial(long id, String name) {
            boolean transaction = TransactionSynchronizationManager.isActualTransactionActive();
            return store(new User(id, name)).thenApply(any -> transaction);
        }

        @Cacheable(prefix = "window", keys = "#id")
        public Mono<String> findInWindow(long id) {
            return Mono.fromCallable(() -> rows.get(id));
        }

        @UpdateCache(prefix = "window", keys = "#id")
        public Mono<String> changeInWindow(long id, String name) {
            return Mono.fromCallable(() -> rows.put(id, name));
        }

        @Cacheable(prefix = "order", keys = "#id")
        public Mono<String> order(long id, Users self, Scheduler other) {
            return Mono.just(id).publishOn(other).flatMap(self::findInWindow).map(name -> "order of " + name);
        }

        /** The row is read at once, and returned when {@link #mayLoad} is done. */
        private CompletableFuture<User> load(long id) {
            loads.incrementAndGet();
            String name = rows.get(id);
            Throwable broken = failure;
            return mayLoad.thenCompose(any -> broken != null
                    ? CompletableFuture.failedFuture(broken)
                    : CompletableFuture.completedFuture(name == null ? null : new User(id, name)));
        }

        private CompletableFuture<User> store(User user) {
            updating = Thread.currentThread();
            rows.put(user.id(), user.name());
            return mayEnd.thenApply(any -> user);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableCacheAndDatabase
    @EnableAsync
    static class Application {

        @Bean
        Users users() {
            return new Users();
        }

        @Bean
        Tenants tenants() {
            return new Tenants();
        }

        @Bean
        LaterFinder laterFinder() {
            return new LaterFinder();
        }
    }

    /** Ways to return one value. */
    enum Style {
        FUTURE {
            @Override
            CompletableFuture<User> read(Users users, long id) {
                return users.findLater(id);
            }

            @Override
            CompletableFuture<User> update(Users users, User user) {
                return users.renameLater(user);
            }
        },
        STAGE {
            @Override
            CompletableFuture<User> read(Users users, long id) {
                return users.findStage(id).toCompletableFuture();
            }

            @Override
            CompletableFuture<User> update(Users users, User user) {
                return users.renameStage(user).toCompletableFuture();
            }
        },
        MONO {
            @Override
            CompletableFuture<User> read(Users users, long id) {
                return users.findReactively(id).toFuture();
            }

            @Override
            CompletableFuture<User> update(Users users, User user) {
                return users.renameReactively(user).toFuture();
            }
        },
        OTHER {
            @Override
            CompletableFuture<User> read(Users users, long id) {
                return Mono.from(users.findOne(id).source).toFuture();
            }

            @Override
            CompletableFuture<User> update(Users users, User user) {
                return Mono.from(users.renameOne(user).source).toFuture();
            }
        };

        abstract CompletableFuture<User> read(Users users, long id);

        abstract CompletableFuture<User> update(Users users, User user);
    }

    private static final AtomicInteger IDS = new AtomicInteger();
    private static ConfigurableApplicationContext context;
    private static ConfigurableApplicationContext other;

    private final long id = IDS.incrementAndGet();
    private final Users users = context.getBean(Users.class);
    private final Users target = AopTestUtils.getTargetObject(users);
    private final Users elsewhere = other.getBean(Users.class);
    private final Users targetElsewhere = AopTestUtils.getTargetObject(elsewhere);

    @BeforeAll
    static void start() {
        RedisServer.shared().flush();
        ReactiveAdapterRegistry.getSharedInstance()
                .registerReactiveType(
                        ReactiveTypeDescriptor.singleOptionalValue(OneValue.class, () -> new OneValue<>(Mono.empty())),
                        value -> ((OneValue<?>) value).source,
                        OneValue::new);
        ContextRegistry.getInstance().registerThreadLocalAccessor("async-methods-test", TRACE);
        context = node();
        other = node();
    }

    @AfterAll
    static void stop() {
        ContextRegistry.getInstance().removeThreadLocalAccessor("async-methods-test");
        context.close();
        other.close();
    }

    private static ConfigurableApplicationContext node() {
        RedisServer redis = RedisServer.shared();
        return new SpringApplicationBuilder(Application.class)
                .properties(
                        "spring.data.redis.host=" + redis.host(),
                        "spring.data.redis.port=" + redis.port(),
                        "spring.datasource.url=jdbc:h2:mem:async-methods;DB_CLOSE_DELAY=-1",
                        "easy-cache.command-timeout=20s",
                        "easy-cache.defaults.load-wait-timeout=1m",
                        "easy-cache.defaults.stale-window=0s",
                        "easy-cache.caches.serial.serial=true",
                        "easy-cache.caches.window.stale-window=1m",
                        "spring.main.web-application-type=none")
                .run();
    }

    @BeforeEach
    void reset() {
        for (Users one : List.of(target, targetElsewhere)) {
            one.rows.put(id, "old");
            one.loads.set(0);
            one.threads.clear();
            one.batches.clear();
            one.mayLoad = CompletableFuture.completedFuture(null);
            one.mayEnd = CompletableFuture.completedFuture(null);
            one.updating = null;
            one.failure = null;
        }
    }

    private static <T> T result(CompletableFuture<T> future) throws Exception {
        return future.get(30, TimeUnit.SECONDS);
    }

    private static Throwable failure(CompletableFuture<?> future) {
        return NestedExceptionUtils.getMostSpecificCause(catchThrowable(() -> result(future)));
    }

    private static Object command(String... parts) {
        try (RawRedis raw = RedisServer.shared().connect()) {
            return raw.command(parts);
        }
    }

    private boolean isPrepared() {
        return Long.valueOf(1).equals(command("HEXISTS", "ec:user::" + id, "i"));
    }

    private static boolean waitsInLane(Map.Entry<Thread, StackTraceElement[]> thread) {
        return thread.getKey().getState() == Thread.State.TIMED_WAITING
                && Stream.of(thread.getValue())
                        .anyMatch(frame -> frame.getClassName().contains(".KeyLanes"));
    }

    /** Threads of the cache that are not idle. */
    private static long heldThreads() {
        return Thread.getAllStackTraces().entrySet().stream()
                .filter(thread -> thread.getKey().getName().startsWith("easy-cache-call-"))
                .filter(thread -> Stream.of(thread.getValue())
                        .anyMatch(frame -> frame.getClassName().startsWith("io.easykit.")))
                .count();
    }

    private void awaitUpdating() {
        await().until(() -> target.updating != null && target.updating.getState() == Thread.State.WAITING);
    }

    @ParameterizedTest
    @EnumSource(Style.class)
    void everyStyleReadsTheEntryOfABlockingMethod(Style style) throws Exception {
        User old = new User(id, "old");
        assertThat(result(style.read(users, id))).isEqualTo(old);
        assertThat(users.find(id)).isEqualTo(old);
        assertThat(result(style.read(elsewhere, id))).isEqualTo(old);

        assertThat(target.loads).hasValue(1);
        assertThat(targetElsewhere.loads).hasValue(0);
    }

    /** The reader has read the old row, all of the update happens, then the reader stores. */
    @ParameterizedTest
    @EnumSource(Style.class)
    void nothingIsStoredThatAnUpdateHasOvertaken(Style style) throws Exception {
        CompletableFuture<Void> gate = new CompletableFuture<>();
        target.mayLoad = gate;
        CompletableFuture<User> read = style.read(users, id);
        await().until(() -> target.loads.get() == 1);

        target.rows.put(id, "new");
        assertThat(result(style.update(elsewhere, new User(id, "new"))).name()).isEqualTo("new");
        gate.complete(null);

        assertThat(result(read).name()).isEqualTo("old");
        assertThat(result(style.read(users, id)).name()).isEqualTo("new");
        assertThat(result(style.read(elsewhere, id)).name()).isEqualTo("new");
    }

    @ParameterizedTest
    @EnumSource(Style.class)
    void anUpdateIsPreparedBeforeTheMethodAndInvalidatedAfterItsResult(Style style) throws Exception {
        assertThat(result(style.read(users, id)).name()).isEqualTo("old");
        CompletableFuture<Void> gate = new CompletableFuture<>();
        target.mayEnd = gate;
        CompletableFuture<User> update = style.update(users, new User(id, "new"));
        awaitUpdating();

        assertThat(isPrepared()).isTrue();
        assertThat(update).isNotDone();
        gate.complete(null);
        assertThat(result(update).name()).isEqualTo("new");
        assertThat(isPrepared()).isFalse();
        assertThat(result(style.read(users, id)).name()).isEqualTo("new");
    }

    @ParameterizedTest
    @EnumSource(Style.class)
    void aFailedUpdateIsInvalidatedToo(Style style) throws Exception {
        assertThat(result(style.read(users, id)).name()).isEqualTo("old");
        IOException failure = new IOException("after the commit");
        target.mayEnd = CompletableFuture.failedFuture(failure);

        assertThat(failure(style.update(users, new User(id, "new")))).isSameAs(failure);
        assertThat(isPrepared()).isFalse();
        assertThat(result(style.read(users, id)).name()).isEqualTo("new");
    }

    /** The work goes on, and is followed by the invalidation. */
    @Test
    void aSubscriberThatCancelsDoesNotEndTheUpdate() throws Exception {
        assertThat(users.find(id).name()).isEqualTo("old");
        CompletableFuture<Void> gate = new CompletableFuture<>();
        target.mayEnd = gate;
        Disposable subscriber = users.renameReactively(new User(id, "new")).subscribe();
        awaitUpdating();
        subscriber.dispose();

        assertThat(isPrepared()).isTrue();
        gate.complete(null);
        await().until(() -> !isPrepared());
        assertThat(users.find(id).name()).isEqualTo("new");
    }

    @ParameterizedTest
    @EnumSource(Style.class)
    void aReaderThatGoesAwayDoesNotEndASharedLoad(Style style) throws Exception {
        CompletableFuture<Void> gate = new CompletableFuture<>();
        target.mayLoad = gate;
        CompletableFuture<User> first = style.read(users, id);
        await().until(() -> target.loads.get() == 1);
        CompletableFuture<User> second = style.read(users, id);
        first.cancel(true);
        gate.complete(null);

        assertThat(result(second).name()).isEqualTo("old");
        assertThat(target.loads).hasValue(1);
    }

    @ParameterizedTest
    @EnumSource(Style.class)
    void theExceptionOfTheMethodIsTheSameObject(Style style) {
        IOException failure = new IOException("no row");
        target.failure = failure;

        assertThat(failure(style.read(users, id))).isSameAs(failure);
    }

    @Test
    void anExceptionBeforeTheFutureIsTheFailureOfTheFuture() {
        CompletableFuture<?>[] future = new CompletableFuture<?>[1];
        assertThat(catchThrowable(() -> future[0] = users.failEarly(id))).isNull();
        assertThat(failure(future[0])).isInstanceOf(IOException.class).hasMessage("no future for " + id);
    }

    @ParameterizedTest
    @EnumSource(Style.class)
    void nothingIsCachedAsNothing(Style style) throws Exception {
        target.rows.remove(id);

        assertThat(result(style.read(users, id))).isNull();
        assertThat(result(style.read(users, id))).isNull();
        assertThat(users.find(id)).isNull();
        assertThat(target.loads).hasValue(1);
    }

    @Test
    void aMethodWithoutAFutureReturnsNothing() throws Exception {
        assertThat(result(users.noFuture(id))).isNull();
        assertThat(result(users.noFuture(id))).isNull();
        assertThat(target.loads).hasValue(1);
    }

    @Test
    void aMonoDoesNothingBeforeItsSubscriptionAndReadsAtEach() {
        Mono<User> read = users.findReactively(id);
        Mono<User> update = users.renameReactively(new User(id, "new"));
        assertThat(target.loads).hasValue(0);
        assertThat(target.rows).containsEntry(id, "old");

        assertThat(read.block(WAIT).name()).isEqualTo("old");
        assertThat(update.block(WAIT).name()).isEqualTo("new");
        assertThat(read.block(WAIT).name()).isEqualTo("new");
        assertThat(read.block(WAIT).name()).isEqualTo("new");
        assertThat(target.loads).hasValue(2);
    }

    /** The operator has changed to a thread that knows no load. The order would be stored as fresh. */
    @Test
    void aValueIsNotBuiltOnAStaleOneThatIsReadOnAnotherThread() {
        Scheduler other = Schedulers.newSingle("operator");
        long outside = IDS.incrementAndGet();
        try {
            Mono.just("starts the thread").publishOn(other).block(WAIT);
            for (long one : List.of(id, outside)) {
                target.rows.put(one, "old");
                assertThat(users.findInWindow(one).block(WAIT)).isEqualTo("old");
                target.rows.put(one, "new");
                elsewhere.changeInWindow(one, "new").block(WAIT);
            }
            assertThat(Mono.just(outside)
                            .publishOn(other)
                            .flatMap(users::findInWindow)
                            .block(WAIT))
                    .as("stale outside of loads")
                    .isEqualTo("old");

            assertThat(users.order(id, users, other).block(WAIT)).isEqualTo("order of new");
        } finally {
            other.dispose();
        }
    }

    @Test
    void conditionUnlessAndOptionalAreThoseOfABlockingMethod() throws Exception {
        assertThat(result(users.findSome(id))).contains(new User(id, "old"));
        assertThat(users.findSomeNow(id)).contains(new User(id, "old"));
        assertThat(target.loads).hasValue(1);
        assertThat(target.threads.get(0)).startsWith("easy-cache-call-");

        long secret = IDS.incrementAndGet();
        target.rows.put(secret, "secret");
        result(users.findSome(secret));
        result(users.findSome(secret));
        assertThat(target.loads).as("unless").hasValue(3);

        assertThat(result(users.findSome(-1))).isEmpty();
        assertThat(target.threads).last().isEqualTo(Thread.currentThread().getName());
    }

    @Test
    void theContextOfTheSubscriberReachesTheMethod() {
        Mono<String> read = users.withContext(id).contextWrite(context -> context.put("tenant", "a"));
        assertThat(read.block(WAIT)).isEqualTo("a " + id);
        assertThat(read.block(WAIT)).isEqualTo("a " + id);
        assertThat(target.loads).hasValue(1);
    }

    @Test
    void micrometersContextReachesTheMethod() throws Exception {
        TRACE.set("mine");
        try {
            assertThat(result(users.withTrace(id))).isEqualTo("mine " + id);
        } finally {
            TRACE.remove();
        }
    }

    /** The key is that of the caller, and no method is called. */
    @Test
    void aHitNeedsNoTenantOnTheThreadOfTheCache() throws Exception {
        assertThat(result(users.ofTenant(id))).isEqualTo("default" + id);
        EasyCache cache = context.getBean(EasyCache.class);
        cache.fetch(CacheSpec.of("tenant", String.class).key("a", id), () -> "of a");
        TENANT.set("a");
        try {
            assertThat(result(users.ofTenant(id))).isEqualTo("of a");
        } finally {
            TENANT.remove();
        }
        assertThat(target.loads).hasValue(1);
    }

    /** On the thread of the cache its tenant is missing, so the method would read the row of another one. */
    @Test
    void theKeyIsThatOfTheCallersThread() {
        TENANT.set("a");
        try {
            assertThat(failure(users.ofTenant(id)))
                    .isInstanceOf(InvalidCacheCallException.class)
                    .hasMessageContaining("tenant::a:" + id)
                    .hasMessageContaining("The method has not run")
                    .hasMessageContaining("TaskDecorator");
            assertThat(failure(users.changeOfTenant(id).toFuture())).isInstanceOf(InvalidCacheCallException.class);
            assertThat(failure(users.ofTenantReactively(id).retry(1).toFuture()))
                    .as("subscribed again on the thread of the cache")
                    .isInstanceOf(InvalidCacheCallException.class);
        } finally {
            TENANT.remove();
        }
        assertThat(target.loads).hasValue(0);
    }

    /** As by a retry whose timer thread has another tenant. The arguments cannot have changed. */
    @Test
    void aReadThatIsSubscribedAgainWithAnotherTenantIsRefused() {
        Mono<String> read = users.ofTenantReactively(id);
        assertThat(read.block(WAIT)).isEqualTo("default" + id);
        TENANT.set("a");
        try {
            assertThat(failure(read.toFuture())).isInstanceOf(InvalidCacheCallException.class);
        } finally {
            TENANT.remove();
        }
        assertThat(target.loads).hasValue(1);
    }

    /** Runs a check while the other node has no Redis. */
    private static void inAnOutageElsewhere(Runnable check) {
        Availability redis =
                Objects.requireNonNull(other.getBean(EasyCache.class).availability("default"));
        redis.force(State.UNAVAILABLE);
        try {
            check.run();
        } finally {
            redis.reset();
            await().atMost(WAIT).until(() -> redis.state() == State.AVAILABLE);
        }
    }

    @Test
    void theKeyIsThatOfTheCallersThreadInAnOutageToo() {
        TENANT.set("a");
        try {
            inAnOutageElsewhere(() -> {
                assertThat(failure(elsewhere.ofTenant(id)))
                        .isInstanceOf(InvalidCacheCallException.class)
                        .hasMessageContaining("The method has not run");
                assertThat(failure(elsewhere.ofTenantReactively(id).retry(1).toFuture()))
                        .isInstanceOf(InvalidCacheCallException.class);
            });
        } finally {
            TENANT.remove();
        }
        assertThat(targetElsewhere.loads).hasValue(0);
    }

    @Test
    void aMonoThatIsSubscribedAgainInAnOutageWithAnotherKeyIsNotCached() {
        inAnOutageElsewhere(() -> {
            Mono<Long> read = elsewhere.next(new AtomicLong(id));

            assertThat(read.block(WAIT)).isEqualTo(id + 1);
            assertThat(read.block(WAIT)).isEqualTo(id + 2);
            assertThat(elsewhere.next(new AtomicLong(id)).block(WAIT)).isEqualTo(id + 1);
        });
        assertThat(targetElsewhere.loads).hasValue(3);
    }

    /** The first subscription called no method. */
    @Test
    void aMonoThatIsSubscribedAgainWithAnotherKeyAfterAHitIsNotCached() {
        AtomicLong key = new AtomicLong(id);
        assertThat(users.next(new AtomicLong(id)).block(WAIT)).isEqualTo(id + 1);
        Mono<Long> read = users.next(key);
        assertThat(read.block(WAIT)).isEqualTo(id + 1);
        key.set(id + 7);

        assertThat(read.block(WAIT)).isEqualTo(id + 8);
    }

    /** The first subscription has changed the argument. */
    @Test
    void aMonoThatIsSubscribedAgainWithAnotherKeyIsNotCached() {
        Mono<Long> read = users.next(new AtomicLong(id));

        assertThat(read.block(WAIT)).isEqualTo(id + 1);
        assertThat(read.block(WAIT)).isEqualTo(id + 2);
        assertThat(users.next(new AtomicLong(id)).block(WAIT)).isEqualTo(id + 1);
        assertThat(target.loads).hasValue(3);
    }

    @Test
    void aBatchIsCachedByElement() throws Exception {
        long next = IDS.incrementAndGet();
        long missing = IDS.incrementAndGet();
        target.rows.put(next, "next");
        assertThat(users.find(id).name()).isEqualTo("old");
        List<Long> ids = new ArrayList<>(List.of(next, id, missing));
        CompletableFuture<Map<Long, User>> later = users.findAllLater(ids);
        ids.clear();

        assertThat(result(later)).isEqualTo(Map.of(next, new User(next, "next"), id, new User(id, "old")));
        assertThat(users.findAllReactively(List.of(id, missing, next)).block(WAIT))
                .containsExactly(new User(id, "old"), null, new User(next, "next"));
        assertThat(users.find(next).name()).isEqualTo("next");
        assertThat(target.batches).containsExactly(List.of(next, missing));

        result(users.removeAll(List.of(id, next), true));
        assertThat(result(users.findAllLater(List.of(id, next)))).isEmpty();
        assertThat(target.batches).hasSize(2);
    }

    /** It updates nothing, so it runs as without a cache. */
    @Test
    void anUpdateWhoseConditionIsFalseRunsOnTheThreadOfItsCaller() throws Exception {
        result(users.removeAll(List.of(id), false));
        result(users.removeAll(List.of(), false));
        assertThat(target.threads).containsOnly(Thread.currentThread().getName());
        result(users.removeAll(List.of(id), true));
        assertThat(target.threads).last().asString().startsWith("easy-cache-call-");
    }

    /** Its list is still to be filled: before the subscription, or while the method runs. */
    @Test
    void anUpdateOfAnEmptyBatchIsComparedLikeAnyOther() throws Exception {
        List<Long> ids = new ArrayList<>();
        Mono<Void> update = users.removeAllReactively(ids);
        assertThat(result(update.toFuture())).isNull();
        ids.add(id);
        assertThat(users.find(id).name()).isEqualTo("old");
        assertThat(result(update.toFuture())).as("subscribed again").isNull();
        assertThat(users.find(id)).isNull();

        target.rows.put(id, "old");
        ids.clear();
        Mono<Void> late = users.removeAllReactively(ids);
        ids.add(id);
        assertThat(failure(late.toFuture()))
                .isInstanceOf(InvalidCacheCallException.class)
                .hasMessageContaining("its keys are no longer []")
                .hasMessageContaining("The method has not run");
        assertThat(target.rows).containsKey(id);
    }

    @Test
    void aKeyOverTheResultIsInvalidatedWhenItIsKnown() {
        assertThat(users.find(id).name()).isEqualTo("old");
        assertThat(users.create(id, "same").block(WAIT).name()).isEqualTo("same");
        assertThat(users.find(id).name()).as("its condition is false").isEqualTo("old");
        assertThat(users.create(id, "new").block(WAIT).name()).isEqualTo("new");
        assertThat(users.find(id).name()).isEqualTo("new");
    }

    @Test
    void aMethodOfATypeVariableIsCached() throws Exception {
        LaterFinder finder = context.getBean(LaterFinder.class);
        assertThat(result(finder.find(id)).name()).isEqualTo("call 1");
        assertThat(result(finder.find(id)).name()).isEqualTo("call 1");
    }

    /** More than the threads of background refreshes. */
    @Test
    void futuresMayWaitForEachOther() throws Exception {
        assertThat(result(users.deep(20, users))).isEqualTo("deep");
        assertThat(result(users.ownKey(id, users))).isEqualTo("outer of inner");
    }

    @Test
    void anOldValueIsReloadedInTheBackground() throws Exception {
        assertThat(result(users.inWindow(id))).isEqualTo("old");
        target.rows.put(id, "new");
        elsewhere.change(id, "new");

        assertThat(result(users.inWindow(id))).as("stale").isEqualTo("old");
        await().until(() -> "new".equals(result(users.inWindow(id))));
        assertThat(target.threads).hasSize(2);
        assertThat(target.threads.get(0)).startsWith("easy-cache-call-");
        assertThat(target.threads.get(1)).startsWith("easy-cache-refresh-");
    }

    @Test
    void anExpiredValueIsReturnedWhileTheSourceFails() {
        assertThat(users.kept(id).block(WAIT).name()).isEqualTo("old");
        target.failure = new IOException("no database");
        await().until(() -> {
            assertThat(users.kept(id).block(WAIT).name()).isEqualTo("old");
            return target.loads.get() > 1;
        });
    }

    /** The annotation stands outside: its thread makes the call, and waits for that of the cache. */
    @Test
    void anAsyncMethodIsCached() throws Exception {
        assertThat(result(users.findAsync(id)).name()).isEqualTo("old");
        assertThat(result(users.findAsync(id)).name()).isEqualTo("old");
        assertThat(target.threads).singleElement().asString().startsWith("easy-cache-call-");
    }

    @Test
    void noTransactionOfTheCallerIsBound() {
        TransactionTemplate transaction = context.getBean(TransactionTemplate.class);
        transaction.executeWithoutResult(
                any -> assertThat(users.inTransaction(id).join()).isFalse());
        assertThat(command("EXISTS", "ec:in-transaction::" + id)).isEqualTo(1L);
    }

    @Test
    void theTransactionOfAFutureIsPartOfItsUpdate() throws Exception {
        assertThat(users.find(id).name()).isEqualTo("old");
        List<Boolean> prepared = new CopyOnWriteArrayList<>();
        Runnable look = () -> prepared.add(isPrepared());
        CompletableFuture<Void> gate = new CompletableFuture<>();
        target.mayEnd = gate;
        CompletableFuture<User> update = users.renameInTransaction(new User(id, "new"), look, look);
        awaitUpdating();
        assertThat(isPrepared()).as("until the future ends").isTrue();
        gate.complete(null);

        assertThat(result(update).name()).isEqualTo("new");
        assertThat(prepared).containsExactly(true, true);
        assertThat(isPrepared()).isFalse();
        assertThat(users.find(id).name()).isEqualTo("new");
    }

    /** The turn is that of a thread of the cache. The method gets no transaction. */
    @Test
    void callsOfASerialCacheRunInOrder() throws Exception {
        CompletableFuture<Void> gate = new CompletableFuture<>();
        target.mayEnd = gate;
        CompletableFuture<Boolean> update = users.changeSerial(id, "new");
        awaitUpdating();
        CompletableFuture<String> read = users.findSerial(id);

        assertThat(read).isNotDone();
        await().until(() ->
                Thread.getAllStackTraces().entrySet().stream().anyMatch(AsyncMethodsIntegrationTests::waitsInLane));
        assertThat(read).isNotDone();
        target.rows.put(id, "newest");
        gate.complete(null);
        assertThat(result(update)).as("in a transaction").isFalse();
        assertThat(result(read)).isEqualTo("newest");
    }

    /**
     * A thousand reads of cold keys, two hundred of them twice, over one Redis connection and one thread of the database. The one
     * thread of the callers runs other tasks while no load has ended, and no thread of the cache waits.
     */
    @Test
    void aThousandReadsBlockNeitherTheirCallersNorEachOther() throws Exception {
        Scheduler caller = Schedulers.newSingle("caller");
        ExecutorService database = Executors.newSingleThreadExecutor();
        CountDownLatch answers = new CountDownLatch(1);
        long first = IDS.getAndAdd(1001) + 1L;
        LongStream.range(first, first + 1000).forEach(row -> target.rows.put(row, "row " + row));
        target.mayLoad = CompletableFuture.runAsync(
                () -> {
                    try {
                        assertThat(answers.await(1, TimeUnit.MINUTES)).isTrue();
                    } catch (InterruptedException stop) {
                        throw new AssertionError(stop);
                    }
                },
                database);
        List<CompletableFuture<User>> reads = new CopyOnWriteArrayList<>();
        try {
            for (int i = 0; i < 1000; i++) {
                long row = first + i;
                caller.schedule(() -> reads.add(users.findReactively(row).toFuture()));
                if (i % 5 == 0) {
                    caller.schedule(() -> reads.add(users.findLater(row)));
                }
            }
            CompletableFuture<String> tick = new CompletableFuture<>();
            caller.schedule(() -> tick.complete(Thread.currentThread().getName()));
            assertThat(result(tick)).startsWith("caller");
            assertThat(reads).hasSize(1200).noneMatch(CompletableFuture::isDone);
            await().atMost(Duration.ofMinutes(1)).until(() -> target.loads.get() == 1000);
            await().atMost(Duration.ofMinutes(1)).until(() -> heldThreads() == 0);
            assertThat(reads).noneMatch(CompletableFuture::isDone);
            answers.countDown();

            for (CompletableFuture<User> read : reads) {
                User user = read.get(1, TimeUnit.MINUTES);
                assertThat(user.name()).isEqualTo("row " + user.id());
            }
            assertThat(target.loads).hasValue(1000);
        } finally {
            answers.countDown();
            caller.dispose();
            database.shutdownNow();
        }
    }

    @Test
    void aStoppedApplicationRunsNothing() {
        ConfigurableApplicationContext stopped = node();
        Users late = stopped.getBean(Users.class);
        EasyCache cache = stopped.getBean(EasyCache.class);
        Users method = AopTestUtils.getTargetObject(late);
        assertThat(late.findLater(-id).join()).isNull();
        assertThat(late.renameLater(new User(-id, "other")).join().name()).isEqualTo("other");
        method.loads.set(0);
        method.rows.clear();
        stopped.close();

        assertThat(failure(late.findLater(id))).isInstanceOf(RejectedExecutionException.class);
        assertThat(failure(late.findReactively(id).toFuture())).isInstanceOf(RejectedExecutionException.class);
        assertThat(failure(late.renameLater(new User(id, "new")))).isInstanceOf(RejectedExecutionException.class);
        assertThat(failure(cache.async()
                        .invalidate(CacheSpec.of("user", User.class).key(id))))
                .isInstanceOf(RejectedExecutionException.class);
        assertThat(method.loads).hasValue(0);
        assertThat(method.rows).isEmpty();
    }
}
