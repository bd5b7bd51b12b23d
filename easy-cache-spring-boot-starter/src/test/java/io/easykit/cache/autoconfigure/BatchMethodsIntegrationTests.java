package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.entry;

import io.easykit.cache.CacheSpec;
import io.easykit.cache.EasyCache;
import io.easykit.cache.InvalidCacheKeyException;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.test.RedisServer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.util.Streamable;

/** The methods of the documentation's chapter on several keys, and other shapes. */
class BatchMethodsIntegrationTests {

    record User(long id, String name) {}

    static class UserDao {

        final Map<Long, User> table = new ConcurrentHashMap<>();
        final List<Collection<Long>> calls = new CopyOnWriteArrayList<>();

        Map<Long, User> findAll(Collection<Long> ids) {
            calls.add(List.copyOf(ids));
            Map<Long, User> found = new LinkedHashMap<>();
            new TreeSet<>(ids).forEach(id -> {
                if (table.containsKey(id)) {
                    found.put(id, table.get(id));
                }
            });
            return found;
        }
    }

    static class Users {

        final UserDao dao = new UserDao();

        @Cacheable(prefix = "user", keys = "#id")
        public @Nullable User find(long id) {
            return dao.table.get(id);
        }

        @Cacheable(prefix = "user", keys = "#ids", batch = true)
        public Map<Long, User> findAll(Collection<Long> ids) {
            return dao.findAll(ids);
        }

        @Cacheable(prefix = "user", keys = "#ids", batch = true)
        public List<@Nullable User> inOrder(long... ids) {
            List<Long> boxed = Arrays.stream(ids).boxed().toList();
            Map<Long, User> found = dao.findAll(boxed);
            List<@Nullable User> users = new ArrayList<>();
            boxed.forEach(id -> users.add(found.get(id)));
            return users;
        }

        @Cacheable(prefix = "user", keys = "#ids", batch = true, condition = "#cached")
        public Map<Long, User> ofSet(Set<Long> ids, boolean cached) {
            return dao.findAll(ids);
        }

        @Cacheable(prefix = "short", keys = "#ids", batch = true)
        public List<User> tooShort(List<Long> ids) {
            return List.of();
        }

        @Cacheable(prefix = "user", keys = "#ids", batch = true)
        public List<@Nullable User> sorting(List<Long> ids) {
            Collections.sort(ids);
            return ids.stream().map(dao.table::get).toList();
        }

        @Cacheable(prefix = "user", keys = "#ids", batch = true)
        public List<@Nullable User> sortingArray(long... ids) {
            Arrays.sort(ids);
            return Arrays.stream(ids).mapToObj(dao.table::get).toList();
        }

        @Cacheable(prefix = "user", keys = "#ids", batch = true)
        public Map<Long, User> sortingForMap(List<Long> ids) {
            Collections.sort(ids);
            return dao.findAll(ids);
        }

        @UpdateCache(prefix = "user", keys = "#users.![id]", batch = true)
        public void saveAll(List<User> users) {
            users.forEach(user -> dao.table.put(user.id(), user));
        }

        @UpdateCache(prefix = "user", keys = "#ids", batch = true)
        public void removeAll(Iterable<Long> ids) {
            ids.forEach(dao.table::remove);
        }

        @UpdateCache(prefix = "user", keys = "#result", batch = true)
        public long[] removeAllNamed(String name) {
            long[] ids = dao.table.values().stream()
                    .filter(user -> user.name().equals(name))
                    .mapToLong(User::id)
                    .toArray();
            Arrays.stream(ids).forEach(dao.table::remove);
            return ids;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        AopAutoConfiguration.class,
        DataRedisAutoConfiguration.class,
        EasyCacheAutoConfiguration.class
    })
    @Import(Users.class)
    static class Application {}

    private static ConfigurableApplicationContext context;

    private final Users users = context.getBean(Users.class);
    private UserDao dao;

    @BeforeAll
    static void start() {
        RedisServer redis = RedisServer.shared();
        context = new SpringApplicationBuilder(Application.class)
                .properties(
                        "spring.data.redis.host=" + redis.host(),
                        "spring.data.redis.port=" + redis.port(),
                        "easy-cache.command-timeout=10s")
                .run();
    }

    @AfterAll
    static void stop() {
        context.close();
    }

    @BeforeEach
    void reset() {
        RedisServer.shared().flush();
        dao = org.springframework.test.util.AopTestUtils.<Users>getTargetObject(users).dao;
        dao.table.clear();
        dao.calls.clear();
        for (long id = 1; id <= 10; id++) {
            dao.table.put(id, new User(id, "user " + id));
        }
    }

    @Test
    void callsTheMethodWithTheMissingElementsOnly() {
        users.findAll(List.of(2L, 4L));
        User third = users.find(3);
        dao.calls.clear();

        Map<Long, User> found = users.findAll(List.of(5L, 4L, 3L, 2L, 11L, 5L));

        assertThat(found)
                .containsExactly(
                        entry(5L, new User(5, "user 5")),
                        entry(4L, new User(4, "user 4")),
                        entry(3L, third),
                        entry(2L, new User(2, "user 2")));
        assertThat(dao.calls).containsExactly(List.of(5L, 11L));
        assertThat(users.findAll(List.of(11L))).isEmpty();
        assertThat(users.find(11)).isNull();
        assertThat(dao.calls).hasSize(1);
    }

    @Test
    void returnsAListInTheOrderOfTheElements() {
        assertThat(users.inOrder(3, 12, 1, 3))
                .containsExactly(new User(3, "user 3"), null, new User(1, "user 1"), new User(3, "user 3"));
        assertThat(users.inOrder(1, 2, 3)).hasSize(3).doesNotContainNull();
        assertThat(users.inOrder()).isEmpty();
        assertThat(dao.calls).containsExactly(List.of(3L, 12L, 1L), List.of(2L));
    }

    @Test
    void passesASetAndObeysTheCondition() {
        assertThat(users.ofSet(Set.of(1L), true)).hasSize(1);
        assertThat(users.ofSet(Set.of(1L), true)).hasSize(1);
        assertThat(dao.calls).hasSize(1);
        assertThat(users.ofSet(Set.of(1L), false)).hasSize(1);
        assertThat(dao.calls).hasSize(2);
    }

    @Test
    void refusesAListThatDoesNotFitTheElements() {
        assertThatIllegalStateException()
                .isThrownBy(() -> users.tooShort(List.of(1L, 2L)))
                .withMessageContaining("Users.tooShort(List) was called with 2 elements and returned 0 values")
                .withMessageContaining("Return one value for each element");
    }

    @Test
    void refusesAListIfTheMethodHasChangedItsArgument() {
        assertThatIllegalStateException()
                .isThrownBy(() -> users.sorting(List.of(3L, 1L)))
                .withMessageContaining("Users.sorting(List) has changed the elements that it was called with")
                .withMessageContaining("Change a copy");
        assertThatIllegalStateException()
                .isThrownBy(() -> users.sortingArray(3, 1))
                .withMessageContaining("Users.sortingArray(long[]) has changed the elements");
        assertThat(users.find(3)).isEqualTo(new User(3, "user 3"));
        assertThat(users.sorting(List.of(1L, 2L))).containsExactly(new User(1, "user 1"), new User(2, "user 2"));
        assertThat(users.sortingForMap(List.of(5L, 4L)).get(5L)).isEqualTo(new User(5, "user 5"));
    }

    @Test
    @SuppressWarnings("NullAway") // callers without null checks may do it
    void namesWhatIsNull() {
        assertThatExceptionOfType(InvalidCacheKeyException.class)
                .isThrownBy(() -> users.findAll(null))
                .withMessageContaining("The elements of 'user' come from #ids, which is null");
        assertThatExceptionOfType(InvalidCacheKeyException.class)
                .isThrownBy(() -> users.findAll(Arrays.asList(1L, null)))
                .withMessageContaining("Element 1 of the 2 elements of 'user'");
    }

    @Test
    void invalidatesTheElementsOfAnUpdate() {
        users.findAll(List.of(1L, 2L, 3L));
        dao.calls.clear();
        users.saveAll(List.of(new User(1, "Ada"), new User(3, "Grace")));
        assertThat(users.findAll(List.of(1L, 2L, 3L)).values())
                .containsExactly(new User(1, "Ada"), new User(2, "user 2"), new User(3, "Grace"));
        assertThat(dao.calls).containsExactly(List.of(1L, 3L));
        users.saveAll(List.of());

        users.removeAllNamed("Ada");
        assertThat(users.findAll(List.of(1L, 2L))).containsOnlyKeys(2L);
    }

    @Test
    void invalidatesTheElementsOfAnIterable() {
        assertThat(users.findAll(List.of(1L, 2L))).hasSize(2);
        users.removeAll(Streamable.of(1L, 2L));
        assertThat(users.findAll(List.of(1L, 2L))).isEmpty();
    }

    @Test
    void readsTheSameEntriesByTheApi() {
        users.findAll(List.of(1L, 2L));
        CacheSpec<User> spec = CacheSpec.of("user", User.class);
        EasyCache cache = context.getBean(EasyCache.class);
        assertThat(cache.fetchAll(spec, List.of(2L, 3L), dao::findAll)).containsOnlyKeys(2L, 3L);
        assertThat(dao.calls).containsExactly(List.of(1L, 2L), List.of(3L));
    }
}
