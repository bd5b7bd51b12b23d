package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener.Load;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CircuitBreakerOptions;
import io.easykit.cache.Consistency;
import io.easykit.cache.InvalidCacheKeyException;
import io.easykit.cache.UnknownClusterException;
import io.easykit.cache.admin.CacheDeclaration;
import io.easykit.cache.admin.CacheDeclaration.KeyPart;
import io.easykit.cache.admin.CacheDeclaration.Setting;
import io.easykit.cache.admin.CacheDisabledException;
import io.easykit.cache.admin.CacheInfo;
import io.easykit.cache.admin.CacheNumbers;
import io.easykit.cache.admin.ClusterInfo;
import io.easykit.cache.admin.EasyCacheAdmin;
import io.easykit.cache.admin.EntryExplanation;
import io.easykit.cache.admin.UnknownCacheException;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.engine.Workbench.GatedLoader;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.FaultyCacheStore;
import java.time.Duration;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CacheAdministrationTests {

    private static final int PROBES = CircuitBreakerOptions.defaults().probesToRecover();

    private final Workbench bench = new Workbench();
    private final EasyCacheEngine here = bench.node();
    private final EasyCacheEngine there = bench.node();
    private final EasyCacheAdmin admin = here.admin();
    private final CacheKey<String> key = Workbench.ap().key(1);
    private final CacheKey<String> second = Workbench.ap().key(2);
    private final CacheKey<String> other = CacheSpec.of("other", String.class).key(1);

    private static void tick(EasyCacheEngine node, int times) {
        for (int i = 0; i < times; i++) {
            node.cluster("default").workers().forEach(RecoveryWorker::tick);
        }
    }

    // Evict

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void evictsAnEntryForAllNodesWithoutAStaleWindow(Consistency consistency) {
        CacheKey<String> entry = Workbench.spec(consistency).key(1);
        here.fetch(entry, () -> "old");

        assertThat(admin.evict(entry)).isTrue();

        assertThat(bench.store.parts(entry)).isEmpty();
        assertThat(there.fetch(entry, () -> "new")).isEqualTo("new");
        assertThat(here.fetch(entry, () -> "never")).isEqualTo("new");
    }

    @Test
    void keepsALoadInFlightFromBeingStoredAfterAnEviction() throws Exception {
        GatedLoader<String> slow = new GatedLoader<>(() -> "old");
        Caller<String> loading = Workbench.call(() -> there.fetch(key, slow));
        slow.awaitEntered();

        admin.evict(key);
        slow.letGo();

        assertThat(loading.result()).isEqualTo("old");
        assertThat(bench.store.parts(key)).isEmpty();
        assertThat(here.fetch(key, () -> "new")).isEqualTo("new");
    }

    @Test
    void deliversAnEvictionWhenRedisAnswers() {
        there.fetch(key, () -> "old");
        bench.store.away();

        assertThat(admin.evict(key)).isFalse();

        assertThat(admin.clusters()).extracting(ClusterInfo::undelivered).containsExactly(1);
        assertThat(here.fetch(key, () -> "new")).isEqualTo("new");
        bench.store.back();
        tick(here, PROBES + 1);
        assertThat(admin.clusters()).extracting(ClusterInfo::undelivered).containsExactly(0);
        assertThat(there.fetch(key, () -> "newer")).isEqualTo("newer");
    }

    @Test
    void evictsFromTheLocalLevelOfThisNode() {
        bench.cutOff(here);
        here.fetch(key, () -> "old");
        assertThat(here.fetch(key, () -> "never")).isEqualTo("old");

        admin.evict(key);

        assertThat(here.fetch(key, () -> "new")).isEqualTo("new");
    }

    // Drop

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void dropsAllEntriesOfAPrefixAndNoOthers(Consistency consistency) {
        CacheSpec<String> spec = Workbench.spec(consistency);
        here.fetch(spec.key(1), () -> "old 1");
        there.fetch(spec.key(2), () -> "old 2");
        here.fetch(other, () -> "kept");

        assertThat(admin.drop(null, "name")).isTrue();

        assertThat(here.fetch(spec.key(1), () -> "new 1")).isEqualTo("new 1");
        assertThat(there.fetch(spec.key(2), () -> "never"))
                .as("another node has not read the epoch yet")
                .isEqualTo("old 2");
        tick(there, 1);
        assertThat(there.fetch(spec.key(2), () -> "new 2")).isEqualTo("new 2");
        assertThat(there.fetch(spec.key(1), () -> "never")).isEqualTo("new 1");
        assertThat(here.fetch(other, () -> "never")).isEqualTo("kept");
    }

    @Test
    void keepsALoadInFlightFromBeingReadAfterADrop() throws Exception {
        here.fetch(second, () -> "anything");
        GatedLoader<String> slow = new GatedLoader<>(() -> "old");
        Caller<String> loading = Workbench.call(() -> there.fetch(key, slow));
        slow.awaitEntered();

        admin.drop(null, "name");
        slow.letGo();

        assertThat(loading.result()).isEqualTo("old");
        assertThat(here.fetch(key, () -> "new")).isEqualTo("new");
    }

    @Test
    void dropsWhenRedisAnswers() {
        here.fetch(key, () -> "old");
        there.fetch(second, () -> "old");
        bench.store.away();

        assertThat(admin.drop(null, "name")).isFalse();

        assertThat(here.fetch(key, () -> "new")).isEqualTo("new");
        bench.store.back();
        assertThat(here.fetch(second, () -> "new"))
                .as("Redis would be read, but for the drop that is pending")
                .isEqualTo("new");
        tick(here, 1);
        tick(there, 1);
        assertThat(there.fetch(second, () -> "newer")).isEqualTo("newer");
    }

    @Test
    void dropsFromTheLocalLevelOfThisNode() {
        bench.cutOff(here);
        here.fetch(key, () -> "old");
        assertThat(here.fetch(key, () -> "never")).isEqualTo("old");

        admin.drop(null, "name");

        assertThat(here.fetch(key, () -> "new")).isEqualTo("new");
    }

    @Test
    void dropsInAllPartsOfAClusterAndOnceMoreWhenAllNodesHaveReadTheEpochs() {
        bench.store.inParts(3);
        EasyCacheEngine a = bench.node();
        tick(a, 1);
        for (int id = 0; id < 3; id++) {
            a.fetch(Workbench.ap().key(id), () -> "old");
        }

        assertThat(a.admin().drop(null, "name")).isTrue();

        List<Long> epochs = epochs();
        assertThat(epochs).doesNotContainNull();
        for (int id = 0; id < 3; id++) {
            assertThat(a.fetch(Workbench.ap().key(id), () -> "new")).isEqualTo("new");
        }
        tick(a, 1);
        assertThat(epochs()).isEqualTo(epochs);
        bench.clock.advance(Duration.ofSeconds(2));
        tick(a, 1);
        assertThat(List.of(0, 1, 2))
                .allSatisfy(hash -> assertThat(epochs().get(hash)).isGreaterThan(epochs.get(hash)));
    }

    private List<Long> epochs() {
        return Arrays.asList(
                bench.store.epochs(0).raised().get("name"),
                bench.store.epochs(1).raised().get("name"),
                bench.store.epochs(2).raised().get("name"));
    }

    // Keys as texts

    private static CacheDeclaration declaration(CacheSpec<?> spec, KeyPart... parts) {
        return new CacheDeclaration(
                "@Cacheable Names.find",
                spec,
                List.of(parts),
                CacheDeclaration.settings(spec.options(), any -> "default"),
                "never stale");
    }

    @Test
    void readsKeyPartsAsTheyAreDeclared() {
        CacheSpec<String> spec = Workbench.ap();
        EasyCacheAdmin declared = here.admin(() -> List.of(declaration(
                spec, new KeyPart("#id", long.class), new KeyPart("#code", String.class), new KeyPart("#x", null))));

        assertThat(declared.key(null, "name", List.of("42", "42", "42"))).isEqualTo(spec.key(42L, "42", 42));
        CacheKey<?> named = declared.key("default", "name", List.of("42", "a:b", "a,b"));
        assertThat(named).isEqualTo(spec.key(42L, "a:b", "a,b"));
        assertThat(named.spec())
                .as("with the type, so that explanations know which values are readable")
                .isEqualTo(spec);
        assertThatThrownBy(() -> declared.key(null, "name", List.of("x", "42", "42")))
                .isInstanceOf(InvalidCacheKeyException.class)
                .hasMessage("The key part 'x' of 'name' (#id) is not a Long. Write it as Java does.");
        assertThatThrownBy(() -> declared.key(null, "name", List.of("42")))
                .isInstanceOf(InvalidCacheKeyException.class)
                .hasMessage(
                        "A key of 'name' has the parts [#id, #code, #x], but 1 was given. Give each of them, in this order,"
                                + " or the name of the key.");
    }

    @Test
    void readsTheKeyOfADeclarationThatHasAsManyParts() {
        CacheSpec<String> spec = Workbench.ap();
        EasyCacheAdmin declared = here.admin(() -> List.of(
                declaration(spec, new KeyPart("#id", long.class), new KeyPart("#code", String.class)),
                declaration(spec, new KeyPart("#name", String.class))));

        assertThat(declared.key(null, "name", List.of("42"))).isEqualTo(spec.key("42"));
        assertThat(declared.key(null, "name", List.of("42", "42"))).isEqualTo(spec.key(42L, "42"));
        assertThatThrownBy(() -> declared.key(null, "name", List.of("1", "2", "3")))
                .isInstanceOf(InvalidCacheKeyException.class)
                .hasMessage(
                        "A key of 'name' has the parts [#id, #code] or [#name], but 3 were given. Give each of them, in"
                                + " this order, or the name of the key.");
    }

    @Test
    void takesKeyPartsOfUnknownTypesForWhatTheyLookLike() {
        here.fetch(key, () -> "value");

        assertThat(admin.key(null, "name", List.of("1"))).isEqualTo(key);
        assertThat(admin.key(null, "name", List.of("one", "true")))
                .isEqualTo(Workbench.ap().key("one", true));
    }

    @Test
    void findsAKeyByItsName() {
        CacheKey<String> text = Workbench.ap().key("42", "a:b");
        here.fetch(key, () -> "value");

        assertThat(admin.keyNamed(null, text.name())).isEqualTo(text);
        assertThat(admin.explain(admin.keyNamed(null, key.name())).state()).isEqualTo(EntryExplanation.State.FRESH);
        assertThat(admin.keyNamed(null, "name::")).isEqualTo(Workbench.ap().key(""));
        assertThatThrownBy(() -> admin.keyNamed(null, "name::]"))
                .isInstanceOf(InvalidCacheKeyException.class)
                .hasMessageContaining("all entries of 'name'")
                .hasMessageContaining("Clear the cache instead");
        assertThatThrownBy(() -> admin.keyNamed(null, "name"))
                .isInstanceOf(InvalidCacheKeyException.class)
                .hasMessageContaining("as in user::42");
    }

    @Test
    void refusesANameWithAnotherNumberOfPartsThanTheDeclaredKeys() {
        CacheSpec<String> spec = Workbench.ap();
        List<CacheDeclaration> declarations = new ArrayList<>(List.of(
                declaration(spec, new KeyPart("#id", long.class), new KeyPart("#code", String.class)),
                declaration(spec, new KeyPart("#name", String.class))));
        EasyCacheAdmin declared = here.admin(() -> declarations);

        for (CacheKey<?> named : List.of(
                spec.key("a:b\\:c"),
                spec.key(1, "\\"),
                spec.key(List.of("a:", LocalTime.NOON), Optional.of(":")),
                spec.key("", ""))) {
            assertThat(declared.keyNamed(null, named.name())).isEqualTo(named);
        }
        for (CacheKey<?> named : List.of(spec.key("a", "b:", "c"), spec.key("\\", "", 1))) {
            assertThatThrownBy(() -> declared.keyNamed(null, named.name()))
                    .isInstanceOf(InvalidCacheKeyException.class)
                    .hasMessage("A key of 'name' has the parts [#id, #code] or [#name], but '" + named.name()
                            + "' has 3. Give the whole name, as an explanation or Redis shows it.");
        }

        declarations.add(declaration(spec));
        assertThat(declared.keyNamed(null, "name::1:2:3"))
                .as("the number is unknown")
                .isEqualTo(spec.key(1, 2, 3));
    }

    @Test
    void refusesAPrefixThatThisNodeDoesNotHave() {
        here.fetch(key, () -> "value");

        assertThatThrownBy(() -> admin.drop(null, "nmae"))
                .isInstanceOf(UnknownCacheException.class)
                .hasMessage("This node has no cache with the prefix 'nmae'. Use one of [name], or ask a node that"
                        + " declares it.");
        assertThatThrownBy(() -> admin.drop("trade", "name"))
                .isInstanceOf(UnknownCacheException.class)
                .hasMessageContaining("on Redis cluster [default], not on 'trade'");
        assertThat(bench.store.raised()).isEmpty();
    }

    @Test
    void asksForTheClusterOfAPrefixThatIsOnSeveral() {
        FaultyCacheStore trade = new FaultyCacheStore(bench.clock::millis);
        EasyCacheEngine node =
                bench.builder(new JacksonValueCodec()).store("trade", trade).buildStopped();
        CacheKey<String> onTrade = Workbench.ap().withClusterId("trade").key(1);
        node.fetch(key, () -> "value");
        node.fetch(onTrade, () -> "old");

        assertThatThrownBy(() -> node.admin().drop(null, "name"))
                .isInstanceOf(UnknownCacheException.class)
                .hasMessageContaining("on the Redis clusters [default, trade]. Name one");
        node.admin().drop("trade", "name");
        assertThat(node.fetch(onTrade, () -> "new")).isEqualTo("new");
        assertThat(node.fetch(key, () -> "never")).isEqualTo("value");
        assertThat(node.admin().caches())
                .extracting(CacheInfo::clusterId, cache -> cache.numbers().misses())
                .containsExactly(tuple("default", 1L), tuple("trade", 2L));
    }

    // Looking

    @Test
    void countsReadsAndLoadsOfEachCache() {
        here.fetch(key, () -> "value");
        here.fetch(key, () -> "never");
        here.fetch(key, () -> "never");
        there.invalidate(key);
        here.fetch(key, () -> "never");
        assertThatThrownBy(() -> here.fetch(second, () -> {
                    throw new IllegalStateException("no database");
                }))
                .hasMessage("no database");
        bench.cutOff(here);
        here.fetch(second, () -> "value");
        here.fetch(second, () -> "never");
        bench.clock.advance(Duration.ofMinutes(5));

        CacheInfo cache = admin.caches().get(0);

        assertThat(cache.prefix()).isEqualTo("name");
        assertThat(cache.clusterId()).isEqualTo("default");
        assertThat(cache.consistency()).isEqualTo(Consistency.AP);
        assertThat(cache.worstStaleness()).isEqualTo(Duration.ofMillis(1500));
        CacheNumbers numbers = cache.numbers();
        assertThat(numbers.over()).isGreaterThanOrEqualTo(Duration.ofMinutes(5));
        assertThat(List.of(numbers.hits(), numbers.near(), numbers.stale(), numbers.local(), numbers.misses()))
                .containsExactly(2L, 0L, 1L, 1L, 3L);
        assertThat(numbers.loads())
                .isEqualTo(Map.of(Load.STORED, 1L, Load.REJECTED, 0L, Load.NOT_STORED, 1L, Load.FAILED, 1L));
    }

    @Test
    void showsDeclaredCachesBeforeTheirFirstUse() {
        CacheSpec<String> spec = Workbench.cp();
        here.fetch(other, () -> "value");
        here.invalidate(CacheKey.named("default", "foreign::1"));

        List<CacheInfo> caches = here.admin(() -> List.of(declaration(spec))).caches();

        assertThat(caches).extracting(CacheInfo::prefix).containsExactly("foreign", "name", "other");
        assertThat(caches.get(0).declarations()).isEmpty();
        assertThat(caches.get(1).declarations())
                .extracting(CacheDeclaration::source)
                .containsExactly("@Cacheable Names.find");
        assertThat(caches.get(1).worstStaleness()).isZero();
        assertThat(caches.get(1).numbers().hits()).isZero();
        assertThat(caches.get(2).declarations())
                .extracting(CacheDeclaration::source)
                .containsExactly("code that calls EasyCache");
        EntryExplanation foreign = admin.explain(admin.key(null, "foreign", List.of("1")));
        assertThat(foreign.sentences().get(foreign.sentences().size() - 1)).startsWith("This node only invalidates");
    }

    @Test
    void knowsTheTypeOfACacheThatWasUpdatedBeforeItsFirstHit() {
        here.invalidate(CacheKey.named("default", key.name()));
        bench.clock.advance(Duration.ofSeconds(5));
        there.fetch(key, () -> "value");
        assertThat(here.fetch(key, () -> "never")).isEqualTo("value");
        here.invalidate(CacheKey.named("default", second.name()));

        CacheInfo cache = admin.caches().get(0);
        assertThat(cache.numbers().hits()).isOne();
        assertThat(cache.numbers().loads()).containsEntry(Load.STORED, 0L);
        assertThat(cache.consistency()).isEqualTo(Consistency.AP);
        assertThat(cache.declarations())
                .extracting(CacheDeclaration::source)
                .containsExactly("code that calls EasyCache");
        assertThat(admin.explain(admin.key(null, "name", List.of("1"))).state())
                .isEqualTo(EntryExplanation.State.FRESH);
    }

    @Test
    void showsTheSettingsInForce() {
        CacheOptions options = CacheOptions.builder()
                .consistency(Consistency.CP)
                .ttl(Duration.ofSeconds(90))
                .refreshAhead(Duration.ofSeconds(30))
                .build();

        assertThat(CacheDeclaration.settings(options, name -> "from " + name))
                .contains(
                        new Setting("consistency", "cp", "from consistency"),
                        new Setting("ttl", "90s", "from ttl"),
                        new Setting("stale-window", "0s", "from stale-window (1500ms), zero under cp"),
                        new Setting("near-ttl", "0s", "from near-ttl"),
                        new Setting("load-lease", "1s", "from load-lease"))
                .anySatisfy(setting -> {
                    assertThat(setting.name()).isEqualTo("refresh-ahead");
                    assertThat(setting.value()).isEqualTo(CacheOptions.text(options.effectiveRefreshAhead()));
                    assertThat(setting.source()).isEqualTo("from refresh-ahead (30s), limited to a tenth of the ttl");
                })
                .hasSize(11);
    }

    @Test
    void forcesTheStateOfACluster() {
        admin.force("default", State.UNAVAILABLE);
        assertThat(admin.clusters()).singleElement().satisfies(cluster -> {
            assertThat(cluster.id()).isEqualTo("default");
            assertThat(cluster.state()).isEqualTo(State.UNAVAILABLE);
            assertThat(cluster.forced()).isEqualTo(State.UNAVAILABLE);
        });
        AtomicInteger loads = new AtomicInteger();
        here.fetch(Workbench.cp().key(1), () -> "value " + loads.incrementAndGet());
        here.fetch(Workbench.cp().key(1), () -> "value " + loads.incrementAndGet());
        assertThat(loads).hasValue(2);

        admin.reset("default");
        tick(here, PROBES + 1);
        assertThat(admin.clusters()).extracting(ClusterInfo::state).containsExactly(State.AVAILABLE);
        assertThat(admin.clusters()).extracting(ClusterInfo::forced).containsOnlyNulls();
        assertThatThrownBy(() -> admin.force("trade", State.AVAILABLE))
                .isInstanceOf(UnknownClusterException.class)
                .hasMessage("There is no Redis cluster 'trade'. Use one of [default].");
    }

    // Switched off

    @Test
    void saysThatTheCacheIsSwitchedOff() {
        EasyCacheAdmin off = EasyCacheEngine.builder(new JacksonValueCodec())
                .disabled()
                .build()
                .admin();

        EntryExplanation told = off.explain(key);

        assertThat(told.state()).isEqualTo(EntryExplanation.State.UNAVAILABLE);
        assertThat(told.sentences()).containsExactly("The cache is switched off: each read calls its loader.");
        assertThat(off.clusters()).isEmpty();
        assertThat(off.caches()).isEmpty();
        assertThat(List.<Runnable>of(
                        () -> off.evict(key),
                        () -> off.drop(null, "name"),
                        () -> off.force("default", State.AVAILABLE),
                        () -> off.reset("default"),
                        () -> off.key(null, "name", List.of("1")),
                        () -> off.keyNamed(null, "name::1")))
                .allSatisfy(action -> assertThatThrownBy(action::run)
                        .isInstanceOf(CacheDisabledException.class)
                        .hasMessageContaining("easy-cache.enabled"));
    }
}
