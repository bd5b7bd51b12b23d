package io.easykit.cache.blog;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.blog.Articles.Headline;
import io.easykit.cache.blog.Articles.Summary;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.redis.RedisEntryStore;
import io.easykit.test.RedisServer;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.SharedEntityManagerCreator;
import org.springframework.orm.jpa.support.OpenEntityManagerInViewInterceptor;
import org.springframework.test.util.AopTestUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.web.context.request.ServletWebRequest;

/** Stored values never contain uncommitted work of their reader. */
class OpenSessionIntegrationTests {

    private static final long ID = 1;

    /** This node never updates it in these tests: it would return nothing stale of it for an hour. */
    private static final long REVISED_ELSEWHERE = 20;

    /** Places of a reader with a session and loaded entities. */
    enum Place {
        VIEW,
        SUPPORTS,
        READ_ONLY,
        REPEATABLE_READ_ONLY,
        AFTER_COMPLETION,
        AFTER_ROLLBACK,
        VIEW_AFTER_TRANSACTION,
        AFTER_COMMIT_LISTENER,
        VIEW_AFTER_COMMIT_LISTENER
    }

    private static ConfigurableApplicationContext context;

    private final Articles articles = context.getBean(Articles.class);
    private final Articles target = AopTestUtils.getTargetObject(articles);
    private final ArticleRepository repository = context.getBean(ArticleRepository.class);
    private final EntityManagerFactory factory = context.getBean(EntityManagerFactory.class);
    private final EntityManager session = SharedEntityManagerCreator.createSharedEntityManager(factory);
    private final PlatformTransactionManager manager = context.getBean(PlatformTransactionManager.class);

    @BeforeAll
    static void start() {
        context = Blog.start("open-session", "spring.jpa.hibernate.ddl-auto=create");
    }

    @AfterAll
    static void stop() {
        context.close();
    }

    @BeforeEach
    void fill() {
        RedisServer.shared().flush();
        context.getBean(EasyCacheEngine.class).clearLocally();
        repository.deleteAll();
        for (long id = ID; id <= 20; id++) {
            Article article = new Article(id);
            article.tags().addAll(List.of("one", "two"));
            repository.save(article);
        }
        target.loads.set(0);
    }

    @ParameterizedTest
    @EnumSource(Place.class)
    void storesNothingThatWasChangedAndNeverSaved(Place place) {
        in(place, () -> entity().setTitle("never saved"), () -> {
            assertThat(articles.strong(ID).title()).isEqualTo(Article.titleOf(0));
            assertThat(articles.eventual(ID).title()).isEqualTo(Article.titleOf(0));
            everyOtherStyleReads(0);
            assertThat(articles.entity(ID).getTitle()).isEqualTo(Article.titleOf(0));
            assertThat(articles.summary(ID)).isEqualTo(new Summary(Article.titleOf(0), 2));
        });
        shouldBeStored(0);
        assertThat(repository.findById(ID).orElseThrow().getTitle()).isEqualTo(Article.titleOf(0));
    }

    @ParameterizedTest
    @EnumSource(Place.class)
    void storesNothingThatWasReadBeforeSomebodysUpdate(Place place) {
        in(
                place,
                () -> {
                    entity();
                    elsewhere(() -> articles.revise(ID));
                },
                () -> {
                    assertThat(articles.strong(ID).revision()).isEqualTo(1);
                    assertThat(articles.eventual(ID).revision()).isEqualTo(1);
                    everyOtherStyleReads(1);
                    assertThat(articles.entity(ID).getRevision()).isEqualTo(1);
                });
        shouldBeStored(1);
    }

    @ParameterizedTest
    @EnumSource(Place.class)
    void leavesItsCallerAsItWas(Place place) {
        in(place, () -> {}, () -> {
            Article mine = entity();
            mine.setTitle("mine");
            Set<String> bound = boundResources();
            articles.strong(ID);
            assertThat(boundResources()).isEqualTo(bound);
            assertThat(entity()).isSameAs(mine);
            mine.setTitle(Article.titleOf(0));
        });
        assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
    }

    /** A set: the order of the map depends on the addresses of its keys, and on who was bound first. */
    private static Set<String> boundResources() {
        return TransactionSynchronizationManager.getResourceMap().entrySet().stream()
                .map(Object::toString)
                .collect(Collectors.toSet());
    }

    /** The other nodes may not have received the invalidation. */
    @Test
    void readsTheUpdateOfItsTransactionInAnAfterCommitListener() {
        articles.strong(ID);
        articles.eventual(ID);
        AtomicBoolean done = new AtomicBoolean();
        new TransactionTemplate(manager).executeWithoutResult(status -> {
            articles.revise(ID);
            context.publishEvent(new CommitListener.Committed(andDone(
                    () -> {
                        assertThat(articles.strong(ID).revision()).isEqualTo(1);
                        assertThat(articles.eventual(ID).revision()).isEqualTo(1);
                        assertThat(elsewhere(() -> articles.strong(ID)).revision())
                                .isEqualTo(1);
                    },
                    done)));
        });
        assertThat(done).isTrue();
        assertThat(articles.strong(ID).revision()).isEqualTo(1);
        assertThat(articles.eventual(ID).revision()).isEqualTo(1);
        target.loads.set(0);
        assertThat(elsewhere(() -> articles.strong(ID)).revision()).isEqualTo(1);
        assertThat(elsewhere(() -> articles.eventual(ID)).revision()).isEqualTo(1);
        assertThat(target.loads).hasValue(0);
    }

    @Test
    void storesNothingInAReadWriteTransaction() {
        new TransactionTemplate(manager).executeWithoutResult(status -> {
            entity().setTitle("not committed");
            assertThat(articles.strong(ID).title()).isEqualTo("not committed");
            status.setRollbackOnly();
        });
        assertThat(articles.strong(ID).title()).isEqualTo(Article.titleOf(0));
        assertThat(target.loads).hasValue(2);
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void saysOnceForEachCacheThatAndWhyItCannotBeFilled(CapturedOutput output) {
        for (int call = 0; call < 20; call++) {
            new TransactionTemplate(manager).executeWithoutResult(status -> articles.hinted(ID));
        }
        assertThat(target.loads).hasValue(20);
        assertThat(output.getOut().lines().filter(line -> line.contains("'hinted'")))
                .singleElement()
                .asString()
                .contains("The value of hinted::1 is not cached", "inside a read-write transaction", "readOnly = true");
    }

    @Test
    void storesNothingInATransactionWithoutSynchronization() {
        AbstractPlatformTransactionManager silent = new JpaTransactionManager(factory);
        silent.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
        new TransactionTemplate(silent).executeWithoutResult(status -> articles.strong(ID));
        articles.strong(ID);
        assertThat(target.loads).hasValue(2);
    }

    @Test
    void fillsTheCacheFromAReadOnlyFacade() {
        TransactionTemplate facade = readOnly(TransactionDefinition.ISOLATION_DEFAULT);
        for (int call = 0; call < 3; call++) {
            facade.executeWithoutResult(status -> {
                for (long id = ID; id <= 20; id++) {
                    assertThat(articles.strong(id)).isEqualTo(new Headline(0, Article.titleOf(0)));
                }
            });
            assertThat(target.loads).hasValue(20);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"READ_ONLY", "REPEATABLE_READ_ONLY", "AFTER_COMPLETION"})
    void givesALoadATransactionWhereItsCallerHasOne(Place place) {
        in(place, this::entity, () -> {
            assertThat(articles.demanding(ID + 1)).containsExactly(1L, 1L, 0L);
            assertThat(articles.demanding(ID + 1)).containsExactly(1L, 1L, 0L);
        });
        assertThat(target.loads).hasValue(1);
    }

    @Test
    void givesARefreshTheTransactionThatItsCallerHas() {
        TransactionTemplate facade = readOnly(TransactionDefinition.ISOLATION_DEFAULT);
        facade.executeWithoutResult(status -> articles.demanding(REVISED_ELSEWHERE));
        reviseElsewhere();
        facade.executeWithoutResult(status -> articles.demanding(REVISED_ELSEWHERE));
        Awaitility.await().untilAsserted(() -> assertThat(articles.demanding(REVISED_ELSEWHERE))
                .containsExactly(19L, 19L, 1L));
        assertThat(target.loads).hasValue(2);
    }

    @Test
    void givesARefreshTheSessionThatItsCallerHas() {
        inView(() -> articles.summary(REVISED_ELSEWHERE));
        reviseElsewhere();
        inView(() -> assertThat(articles.summary(REVISED_ELSEWHERE).title()).isEqualTo(Article.titleOf(0)));
        Awaitility.await().untilAsserted(() -> assertThat(articles.summary(REVISED_ELSEWHERE))
                .isEqualTo(new Summary(Article.titleOf(1), 2)));
        assertThat(target.loads).hasValue(2);
    }

    /** Updates like another node. This node would return nothing older than its own update. */
    private void reviseElsewhere() {
        new TransactionTemplate(manager).executeWithoutResult(status -> target.revise(REVISED_ELSEWHERE));
        RedisEntryStore store =
                new RedisEntryStore(context.getBean(RedisConnectionFactory.class), Duration.ofSeconds(10));
        EasyCacheEngine elsewhere = EasyCacheEngine.builder(new JacksonValueCodec())
                .store(CacheSpec.DEFAULT_CLUSTER, store)
                .build();
        CacheOptions options = CacheOptions.builder()
                .ttl(Duration.ofHours(2))
                .staleWindow(Duration.ofHours(1))
                .build();
        elsewhere.invalidate(List.of(
                CacheSpec.of("summary", Summary.class).withOptions(options).key(REVISED_ELSEWHERE),
                CacheSpec.of("demanding", List.class).withOptions(options).key(REVISED_ELSEWHERE)));
        elsewhere.stop();
    }

    @Test
    void bringsTheFirstCallerADetachedEntityLikeEveryHit() {
        inView(() -> {
            articles.entity(ID).setTitle("detached");
            articles.entity(ID).setTitle("detached");
            new TransactionTemplate(manager).executeWithoutResult(status -> entity());
        });
        assertThat(repository.findById(ID).orElseThrow().getTitle()).isEqualTo(Article.titleOf(0));
    }

    /** All connections are held, and each holder needs a further one. */
    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void neverWaitsForAConnectionThatOnlyItselfCouldGiveBack(int size) {
        try (ConfigurableApplicationContext small = Blog.start(
                "small-pool-" + size,
                "spring.jpa.hibernate.ddl-auto=create",
                "spring.datasource.hikari.maximum-pool-size=" + size,
                "spring.datasource.hikari.connection-timeout=30000")) {
            ArticleRepository rows = small.getBean(ArticleRepository.class);
            Articles cached = small.getBean(Articles.class);
            for (long id = ID; id <= 200; id++) {
                rows.save(new Article(id));
            }
            TransactionTemplate facade = new TransactionTemplate(small.getBean(PlatformTransactionManager.class));
            facade.setReadOnly(true);
            Executor threads = task -> new Thread(task).start();
            List<CompletableFuture<Void>> readers = new ArrayList<>();
            for (int reader = 0; reader < 8; reader++) {
                boolean inView = reader % 2 == 0;
                readers.add(CompletableFuture.runAsync(
                        () -> {
                            Runnable work = () -> {
                                rows.findById(ID);
                                for (long id = ID; id <= 200; id++) {
                                    cached.strong(id);
                                }
                            };
                            if (inView) {
                                view(small.getBean(OpenEntityManagerInViewInterceptor.class), work);
                            } else {
                                facade.executeWithoutResult(status -> work.run());
                            }
                        },
                        threads));
            }
            CompletableFuture.allOf(readers.toArray(CompletableFuture[]::new))
                    .orTimeout(20, TimeUnit.SECONDS)
                    .join();
        }
    }

    private Article entity() {
        return session.find(Article.class, ID);
    }

    /** Other readers get the revision without a load. */
    private void shouldBeStored(long revision) {
        target.loads.set(0);
        assertThat(elsewhere(() -> articles.strong(ID))).isEqualTo(new Headline(revision, Article.titleOf(revision)));
        assertThat(elsewhere(() -> articles.eventual(ID))).isEqualTo(new Headline(revision, Article.titleOf(revision)));
        assertThat(elsewhere(() -> articles.entity(ID)).getTitle()).isEqualTo(Article.titleOf(revision));
        elsewhere(() -> everyOtherStyleReads(revision));
        assertThat(target.loads).hasValue(0);
    }

    private boolean everyOtherStyleReads(long revision) {
        Headline expected = new Headline(revision, Article.titleOf(revision));
        assertThat(articles.near(ID)).isEqualTo(expected);
        assertThat(articles.batch(List.of(ID))).isEqualTo(Map.of(ID, expected));
        assertThat(articles.later(ID).orTimeout(20, TimeUnit.SECONDS).join()).isEqualTo(expected);
        return true;
    }

    /** Reads the entities of the session, then the cache. */
    private void in(Place place, Runnable session, Runnable reads) {
        AtomicBoolean done = new AtomicBoolean();
        Runnable both = () -> {
            session.run();
            reads.run();
            done.set(true);
        };
        switch (place) {
            case VIEW -> inView(both);
            case SUPPORTS -> {
                TransactionTemplate supports = new TransactionTemplate(
                        manager, new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_SUPPORTS));
                supports.executeWithoutResult(status -> both.run());
            }
            case READ_ONLY ->
                readOnly(TransactionDefinition.ISOLATION_DEFAULT).executeWithoutResult(status -> both.run());
            case REPEATABLE_READ_ONLY ->
                readOnly(TransactionDefinition.ISOLATION_REPEATABLE_READ).executeWithoutResult(status -> both.run());
            case AFTER_COMPLETION ->
                readOnly(TransactionDefinition.ISOLATION_DEFAULT).executeWithoutResult(status -> {
                    session.run();
                    afterCompletion(reads, done);
                });
            case AFTER_ROLLBACK ->
                new TransactionTemplate(manager).executeWithoutResult(status -> {
                    session.run();
                    status.setRollbackOnly();
                    afterCompletion(reads, done);
                });
            case AFTER_COMMIT_LISTENER -> publishInTransaction(session, andDone(reads, done));
            case VIEW_AFTER_COMMIT_LISTENER -> inView(() -> publishInTransaction(session, andDone(reads, done)));
            case VIEW_AFTER_TRANSACTION ->
                inView(() -> {
                    readOnly(TransactionDefinition.ISOLATION_DEFAULT).executeWithoutResult(status -> session.run());
                    reads.run();
                    done.set(true);
                });
        }
        assertThat(done).isTrue();
    }

    private static Runnable andDone(Runnable reads, AtomicBoolean done) {
        return () -> {
            reads.run();
            done.set(true);
        };
    }

    /** The application's listener runs the reads after the commit. */
    private void publishInTransaction(Runnable session, Runnable reads) {
        readOnly(TransactionDefinition.ISOLATION_DEFAULT).executeWithoutResult(status -> {
            session.run();
            context.publishEvent(new CommitListener.Committed(reads));
        });
    }

    private static void afterCompletion(Runnable reads, AtomicBoolean done) {
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void afterCompletion(int result) {
                reads.run();
                done.set(true);
            }
        });
    }

    private TransactionTemplate readOnly(int isolation) {
        DefaultTransactionDefinition definition = new DefaultTransactionDefinition();
        definition.setReadOnly(true);
        definition.setIsolationLevel(isolation);
        return new TransactionTemplate(manager, definition);
    }

    private void inView(Runnable request) {
        view(context.getBean(OpenEntityManagerInViewInterceptor.class), request);
    }

    private static void view(OpenEntityManagerInViewInterceptor interceptor, Runnable request) {
        ServletWebRequest web = new ServletWebRequest(new MockHttpServletRequest());
        interceptor.preHandle(web);
        try {
            request.run();
        } finally {
            interceptor.afterCompletion(web, null);
        }
    }

    private static <T> T elsewhere(Supplier<T> work) {
        return CompletableFuture.supplyAsync(work)
                .orTimeout(20, TimeUnit.SECONDS)
                .join();
    }
}
