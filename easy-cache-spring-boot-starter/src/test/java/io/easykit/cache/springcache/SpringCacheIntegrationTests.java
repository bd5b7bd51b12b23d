package io.easykit.cache.springcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.CacheSpec;
import io.easykit.cache.InvalidCacheCallException;
import io.easykit.cache.InvalidCacheKeyException;
import io.easykit.cache.admin.EasyCacheAdmin;
import io.easykit.cache.springcache.SpringShop.Facade;
import io.easykit.cache.springcache.SpringShop.Product;
import io.easykit.cache.springcache.SpringShop.Products;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.expression.spel.SpelEvaluationException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.util.AopTestUtils;
import reactor.core.publisher.Mono;

/** Spring's own annotations, on two nodes with one Redis. */
class SpringCacheIntegrationTests {

    private static final AtomicInteger IDS = new AtomicInteger();
    private static ConfigurableApplicationContext first;
    private static ConfigurableApplicationContext second;

    /** Redis keeps its data between the tests: lost epochs would be raised again. */
    private final long id = IDS.incrementAndGet();

    private final Products here = first.getBean(Products.class);
    private final Products there = second.getBean(Products.class);
    private final Facade facade = first.getBean(Facade.class);
    private final Products target = AopTestUtils.getTargetObject(here);

    /** Ways to read the same entry. */
    enum Read {
        PLAIN {
            @Override
            Product of(Products products, long id) {
                return products.find(id);
            }
        },
        SYNC {
            @Override
            Product of(Products products, long id) {
                return products.findOnce(id);
            }
        },
        OPTIONAL {
            @Override
            Product of(Products products, long id) {
                return products.findMaybe(id).orElse(null);
            }
        },
        FUTURE {
            @Override
            Product of(Products products, long id) {
                return products.findLater(id).join();
            }
        },
        MONO {
            @Override
            Product of(Products products, long id) {
                return products.findReactively(id).block(Duration.ofSeconds(30));
            }
        };

        abstract Product of(Products products, long id);
    }

    /** Ways to change a row and to invalidate its entry. */
    enum Update {
        EVICT {
            @Override
            void run(Products products, Product product) {
                products.rename(product);
            }
        },
        PUT {
            @Override
            void run(Products products, Product product) {
                products.save(product);
            }
        },
        FUTURE {
            @Override
            void run(Products products, Product product) {
                products.renameLater(product).join();
            }
        },
        MONO {
            @Override
            void run(Products products, Product product) {
                products.renameReactively(product).block(Duration.ofSeconds(30));
            }
        },
        CONDITION {
            @Override
            void run(Products products, Product product) {
                products.renameIf(product);
            }
        },
        BEFORE_INVOCATION {
            @Override
            void run(Products products, Product product) {
                products.renameEarly(product);
            }
        };

        abstract void run(Products products, Product product);
    }

    @BeforeAll
    static void start() {
        RedisServer.shared().flush();
        first = SpringShop.start(SpringShop.Application.class);
        second = SpringShop.start(SpringShop.Application.class);
    }

    @AfterAll
    static void stop() {
        first.close();
        second.close();
    }

    private static JdbcClient jdbc() {
        return first.getBean(JdbcClient.class);
    }

    @BeforeEach
    void addProduct() {
        jdbc().sql("delete from product").update();
        SpringShop.add(first, new Product(id, "old"));
        target.loads.set(0);
        target.meanwhile = () -> {};
        target.beforeCommit = () -> {};
    }

    @ParameterizedTest
    @EnumSource(Read.class)
    void loadsOnceForAllNodesAndWaysToRead(Read read) {
        assertThat(read.of(here, id)).isEqualTo(new Product(id, "old"));
        for (Read again : Read.values()) {
            assertThat(again.of(here, id)).isEqualTo(new Product(id, "old"));
        }
        assertThat(target.loads).hasValue(1);

        jdbc().sql("update product set name = 'unseen'").update();
        assertThat(there.find(id).name()).as("read by the other node").isEqualTo("old");
    }

    /** The reader has read the old row, then the writer commits, then the reader stores. */
    @ParameterizedTest
    @EnumSource(Read.class)
    void aValueThatAnUpdateHasOvertakenIsNotStored(Read read) {
        target.meanwhile = () -> SpringShop.elsewhere(() -> here.rename(new Product(id, "new")));

        assertThat(read.of(here, id).name()).as("current when the reader came").isEqualTo("old");

        assertThat(there.find(id).name()).isEqualTo("new");
        assertThat(read.of(here, id).name()).isEqualTo("new");
    }

    @ParameterizedTest
    @EnumSource(Update.class)
    void aReaderThatReadTheOldRowBeforeAnyKindOfUpdateStoresNothing(Update update) {
        target.meanwhile = () -> SpringShop.elsewhere(() -> update.run(here, new Product(id, "new")));

        assertThat(here.find(id).name()).isEqualTo("old");

        assertThat(there.find(id).name()).isEqualTo("new");
    }

    /** A reader on the other node loads the old row while the update is not committed. */
    @Test
    void nothingIsStoredBetweenTheChangeAndTheCommit() {
        Products other = AopTestUtils.getTargetObject(there);
        other.loads.set(0);
        AtomicReference<Product> meanwhile = new AtomicReference<>();
        target.beforeCommit = () -> SpringShop.elsewhere(() -> meanwhile.set(there.find(id)));

        here.rename(new Product(id, "new"));

        assertThat(meanwhile.get().name()).isEqualTo("old");
        assertThat(there.find(id).name()).isEqualTo("new");
        assertThat(other.loads).hasValue(2);
    }

    @ParameterizedTest
    @EnumSource(
            value = Update.class,
            mode = EnumSource.Mode.EXCLUDE,
            names = "PUT") // whose key is known only from the result
    void anUpdateIsPreparedBeforeItChangesTheRow(Update update) {
        AtomicReference<Object> prepared = new AtomicReference<>();
        target.beforeCommit = () -> prepared.set(command("HEXISTS", "ec:product::" + id, "i"));

        update.run(here, new Product(id, "new"));

        assertThat(prepared).hasValue(1L);
        assertThat(command("HEXISTS", "ec:product::" + id, "i")).isEqualTo(0L);
    }

    private static Object command(String... parts) {
        try (RawRedis raw = RedisServer.shared().connect()) {
            return raw.command(parts);
        }
    }

    @Test
    void aStrongCacheNeverReturnsTheOldValueAfterTheUpdate() {
        assertThat(there.findStrong(id).name()).isEqualTo("old");

        here.renameStrong(new Product(id, "new"));

        assertThat(there.findStrong(id).name()).isEqualTo("new");
        assertThat(here.findStrong(id).name()).isEqualTo("new");
    }

    /** The load that an update has overtaken is repeated for a reader of a CP cache. */
    @Test
    void aStrongReaderRepeatsALoadThatAnUpdateHasOvertaken() {
        target.meanwhile = () -> SpringShop.elsewhere(() -> here.renameStrong(new Product(id, "new")));

        assertThat(here.findStrong(id).name()).isEqualTo("new");
        assertThat(target.loads).hasValue(2);
    }

    /** It would run beside the calls that wait for each other. */
    @Test
    void anUpdateOfASerialCacheNeedsItsKeyBeforeTheMethod() {
        assertThat(here.findSerial(id).name()).isEqualTo("old");

        assertThatThrownBy(() -> here.renameSerial(null, "new"))
                .isInstanceOf(InvalidCacheCallException.class)
                .hasMessageContaining("cannot wait for its turn");
        assertThat(here.findSerial(id).name()).isEqualTo("old");

        here.renameSerial(id, "new");
        assertThat(here.findSerial(id).name()).isEqualTo("new");
    }

    /** The connection would be held until the future ends, while its method works on another one. */
    @Test
    void anUpdateOfASerialCacheThatEndsLaterBeginsNoTransaction() {
        assertThat(here.findSerial(id).name()).isEqualTo("old");

        assertThat(here.renameSerialLater(id, "newer")
                        .orTimeout(30, TimeUnit.SECONDS)
                        .join())
                .isFalse();
        assertThat(here.findSerial(id).name()).isEqualTo("newer");

        assertThat(here.renameSerialReactively(id, "newest").block(Duration.ofSeconds(30)))
                .isFalse();
        assertThat(here.findSerial(id).name()).isEqualTo("newest");
    }

    @Test
    void clearsTwoCachesWithAllEntries() {
        assertThat(here.find(id).name()).isEqualTo("old");
        assertThat(here.findByParts(id, "de").name()).isEqualTo("old");
        assertThat(there.find(id).name()).isEqualTo("old");

        here.renameAll("new");

        assertThat(here.find(id).name()).isEqualTo("new");
        assertThat(here.findByParts(id, "de").name()).isEqualTo("new");
        Awaitility.await()
                .atMost(Duration.ofSeconds(30))
                .until(() -> there.find(id).name().equals("new"));
    }

    @Test
    void anUpdateThatIsRolledBackInvalidates() {
        assertThat(here.find(id).name()).isEqualTo("old");

        assertThatThrownBy(() -> here.failToRename(new Product(id, "new"))).hasMessage("rolled back");

        assertThat(here.find(id).name()).isEqualTo("old");
        assertThat(target.loads).hasValue(2);
    }

    @Test
    void anUpdateThatFailsAfterItsCommitInvalidatesAKeyThatIsKnownThen() {
        assertThat(here.find(id).name()).isEqualTo("old");

        assertThatThrownBy(() -> here.failAfterCommit(new AtomicReference<>(), new Product(id, "new")))
                .hasMessage("after the commit");

        assertThat(here.find(id).name()).isEqualTo("new");
    }

    @Test
    void anUpdateThatFailsAfterItsCommitInvalidatesWhateverItsConditionOverTheResult() {
        assertThat(here.find(id).name()).isEqualTo("old");

        assertThatThrownBy(() -> here.failAfterCommitIf(new AtomicReference<>(), new Product(id, "new")))
                .hasMessage("after the commit");

        assertThat(here.find(id).name()).isEqualTo("new");
    }

    @Test
    void aTransactionReadsItsOwnChange() {
        assertThat(here.find(id).name()).isEqualTo("old");

        assertThat(facade.renameAndRead(new Product(id, "new"))).isEqualTo("new");

        assertThat(here.find(id).name()).isEqualTo("new");
    }

    /** Spring's own interceptor would call the method in the transaction of its caller. */
    @Test
    void aReadInAReadOnlyTransactionIsStored() {
        assertThat(facade.find(id).name()).isEqualTo("old");
        assertThat(facade.find(id).name()).isEqualTo("old");
        assertThat(target.loads).hasValue(1);
    }

    @Test
    void conditionAndUnlessKeepValuesOut() {
        here.findSome(id);
        here.findSome(id);
        assertThat(target.loads).hasValue(1);

        SpringShop.add(first, new Product(-1, "none"));
        here.findSome(-1);
        here.findSome(-1);
        assertThat(target.loads).as("condition").hasValue(3);

        long secret = IDS.incrementAndGet();
        SpringShop.add(first, new Product(secret, "secret"));
        here.findSome(secret);
        here.findSome(secret);
        assertThat(target.loads).as("unless").hasValue(5);
    }

    @Test
    void nothingIsCachedAsNull() {
        long missing = IDS.incrementAndGet();

        assertThat(here.findMaybe(missing)).isEmpty();
        assertThat(here.find(missing)).isNull();
        assertThat(here.findLater(missing).join()).isNull();
        assertThat(here.findReactively(missing).block(Duration.ofSeconds(30))).isNull();
        assertThat(here.findMaybe(missing)).isEqualTo(Optional.empty());

        assertThat(target.loads).hasValue(1);
    }

    @Test
    void aMethodWithTwoCachesFillsBoth() {
        assertThat(here.findInTwo(id).name()).isEqualTo("old");
        assertThat(command("EXISTS", "ec:product::" + id, "ec:copy::" + id)).isEqualTo(2L);

        here.rename(new Product(id, "new"));

        assertThat(here.findInTwo(id).name())
                .as("its second cache was not evicted")
                .isEqualTo("old");
        assertThat(here.find(id).name()).as("and does not fill the first one").isEqualTo("new");
    }

    @Test
    void severalParametersAreSeveralPartsOfTheKey() {
        here.findByParts(id, "de");
        here.findByParts(id, "fr");
        here.findByParts(id, "de:fr");
        here.findByParts(id, null);
        here.findByParts(id, null);

        assertThat(target.loads).hasValue(4);
        assertThat(command("EXISTS", "ec:parts::" + id + ":de")).isEqualTo(1L);
    }

    @Test
    void theExceptionOfTheMethodReachesTheCaller() {
        IOException checked = new IOException("no row");
        target.failure = checked;
        assertThatThrownBy(() -> here.fail(id)).isSameAs(checked);

        IllegalStateException failure = new IllegalStateException("no row");
        Runnable fails = () -> {
            throw failure;
        };
        target.meanwhile = fails;
        assertThatThrownBy(() -> here.findOnce(id)).isSameAs(failure);
        target.meanwhile = fails;
        assertThatThrownBy(() -> here.findLater(id).join()).hasRootCause(failure);
        target.meanwhile = fails;
        assertThatThrownBy(() -> here.findReactively(id).block(Duration.ofSeconds(30)))
                .isSameAs(failure);
        assertThat(here.find(id).name()).isEqualTo("old");
    }

    /** Its key is needed before the method, and nothing else invalidates the entry. */
    @Test
    void anUpdateBeforeTheInvocationNeedsItsKeyThen() {
        assertThatThrownBy(() -> here.renameEarly(null)).isInstanceOf(SpelEvaluationException.class);
        assertThatThrownBy(() -> here.renameEarlyById(null, "new"))
                .isInstanceOf(InvalidCacheKeyException.class)
                .hasMessageContaining("renameEarlyById")
                .hasMessageContaining("The method has not run");
        assertThat(here.find(id).name()).isEqualTo("old");
    }

    @Test
    void aMonoDoesNothingBeforeItsSubscription() {
        Mono<Product> mono = here.findReactively(id);
        assertThat(target.loads).hasValue(0);

        jdbc().sql("update product set name = 'new' where id = ?").param(id).update();
        assertThat(mono.block(Duration.ofSeconds(30)).name()).isEqualTo("new");
        here.rename(new Product(id, "newer"));
        assertThat(mono.block(Duration.ofSeconds(30)).name()).isEqualTo("newer");
    }

    @Test
    void operatorsSeeTheDeclaredCaches() {
        EasyCacheAdmin admin = first.getBean(EasyCacheAdmin.class);
        assertThat(admin.caches())
                .filteredOn(cache -> cache.prefix().equals("product"))
                .singleElement()
                .satisfies(cache -> {
                    assertThat(cache.clusterId()).isEqualTo(CacheSpec.DEFAULT_CLUSTER);
                    assertThat(cache.declarations().get(0).spec().type()).isEqualTo(Product.class);
                });
    }
}
