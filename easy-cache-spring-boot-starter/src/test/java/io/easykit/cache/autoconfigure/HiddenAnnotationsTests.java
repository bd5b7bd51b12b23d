package io.easykit.cache.autoconfigure;

import static io.easykit.cache.autoconfigure.Declarations.refuses;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.cache.autoconfigure.Declarations.User;
import java.lang.reflect.Proxy;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Annotations on overridden and implemented methods that would have no effect fail the start. */
class HiddenAnnotationsTests {

    private final ApplicationContextRunner runner = Declarations.application();

    interface Writes {
        @UpdateCache(prefix = "user", keys = "#id")
        void change(long id);
    }

    static class JdbcWrites {
        public void change(long id) {}
    }

    static class InheritedUpdate extends JdbcWrites implements Writes {}

    interface Reads {
        @Cacheable(prefix = "user", keys = "#id")
        User find(long id);
    }

    static class JdbcReads {
        public User find(long id) {
            return new User(id, "");
        }
    }

    static class InheritedRead extends JdbcReads implements Reads {}

    interface GenericWrites<K> {
        @UpdateCache(prefix = "user", keys = "#id")
        void change(K id);
    }

    static class BoxedWrites {
        public void change(Long id) {}
    }

    static class InheritedByABridge extends BoxedWrites implements GenericWrites<Long> {}

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void refusesThoseOfAnInterfaceThatTheInheritedMethodDoesNotKnow(boolean classProxies) {
        ApplicationContextRunner application =
                runner.withPropertyValues("spring.aop.proxy-target-class=" + classProxies);
        refuses(
                application,
                InheritedUpdate.class,
                "@UpdateCache",
                "change(long)",
                "is that of " + JdbcWrites.class.getName() + ", which is not a " + Writes.class.getName(),
                "Override the method in " + InheritedUpdate.class.getName());
        refuses(application, InheritedRead.class, "@Cacheable", "find(long)", "put the annotation on the method of");
        refuses(application, InheritedByABridge.class, "@UpdateCache", "Override the method in");
    }

    @Test
    void reportsNoUpdateThatOnlyMissesAHiddenCache() {
        runner.withBean(InheritedRead.class).withBean(UpdateOnItsOwn.class).run(context -> assertThat(
                        context.getStartupFailure())
                .hasMessageContaining("which is not a")
                .message()
                .doesNotContain("no @Cacheable has the prefix"));
    }

    static class UpdateOnItsOwn {
        @UpdateCache(prefix = "user", keys = "#id")
        public void update(long id) {}
    }

    static class Overriding extends JdbcReads implements Reads {
        @Override
        public User find(long id) {
            return super.find(id);
        }
    }

    static class AnnotatedReads {
        @Cacheable(prefix = "other", keys = "#id")
        public User find(long id) {
            return new User(id, "");
        }
    }

    static class AnnotatedItself extends AnnotatedReads implements Reads {}

    @ParameterizedTest
    @ValueSource(classes = {Overriding.class, AnnotatedItself.class})
    void takesAMethodWithAnAnnotation(Class<?> bean) {
        runner.withBean(bean).run(context -> assertThat(context).hasNotFailed());
    }

    interface CachedRepository<T, K> {
        @Cacheable(prefix = "{class}", keys = "#id")
        T find(K id);

        @UpdateCache(prefix = "{class}", keys = "#entity.id")
        <S extends T> S save(S entity);
    }

    interface UserRepository extends CachedRepository<User, Long> {
        @Cacheable(prefix = "userByName", keys = "#name")
        User findByName(String name);

        @Override
        @UpdateCache(prefix = "userByName", keys = "#entity.name")
        <S extends User> S save(S entity);
    }

    interface RepeatingRepository extends CachedRepository<User, Long> {
        @Cacheable(prefix = "userByName", keys = "#name")
        User findByName(String name);

        @Override
        @UpdateCache(prefix = "repeatingRepository", keys = "#entity.id", condition = "#entity.id > 0")
        @UpdateCache(prefix = "userByName", keys = "#entity.name")
        <S extends User> S save(S entity);
    }

    @Test
    void refusesAnUpdateThatReplacesThatOfAnotherCache() {
        runner.withBean(UserRepository.class, () -> client(UserRepository.class))
                .run(context -> assertThat(context.getStartupFailure())
                        .hasMessageContainingAll(
                                "@UpdateCache " + UserRepository.class.getName() + ".save(User)",
                                "it replaces the @UpdateCache of the prefix 'userRepository' on the method of "
                                        + CachedRepository.class.getName()
                                        + ", so these entries would never be invalidated",
                                "Put both annotations on the method of " + UserRepository.class.getName()));
        runner.withBean(RepeatingRepository.class, () -> client(RepeatingRepository.class))
                .run(context -> assertThat(context).hasNotFailed());
    }

    private static <T> T client(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, args) -> switch (method.getName()) {
                    case "hashCode" -> 1;
                    case "equals" -> proxy == args[0];
                    default -> null;
                }));
    }

    static class Users {
        @Cacheable(prefix = "user", keys = "#id")
        public User find(long id) {
            return new User(id, "");
        }

        @Cacheable(prefix = "names", keys = "#id")
        public Map<String, String> names(long id) {
            return Map.of();
        }

        @UpdateCache(prefix = "user", keys = "#id")
        public void change(long id) {}
    }

    static class ReplacedUpdate extends Users {
        @Override
        @UpdateCache(prefix = "names", keys = "#id")
        public void change(long id) {}
    }

    interface NameWrites {
        @UpdateCache(prefix = "names", keys = "#id")
        void change(long id);
    }

    static class TwoInterfaces extends Users implements Writes, NameWrites {
        @Override
        public void change(long id) {}
    }

    static class Repeated extends Users implements NameWrites {
        @Override
        @UpdateCache(prefix = "user", keys = "#id")
        @UpdateCache(prefix = "names", keys = "#id")
        public void change(long id) {}
    }

    static class InheritedUsers extends Users {
        @Override
        public void change(long id) {}
    }

    @Test
    void refusesAnUpdateOfAClassOrInterfaceThatHidesAnother() {
        refuses(
                ReplacedUpdate.class,
                "change(long)",
                "of the prefix 'user'",
                "method of " + ReplacedUpdate.class.getName());
        refuses(TwoInterfaces.class, "change(long)", "of the prefix 'names'", "Put both annotations on the method");
    }

    @ParameterizedTest
    @ValueSource(classes = {Repeated.class, InheritedUsers.class})
    void takesAnUpdateOfAllCaches(Class<?> bean) {
        runner.withBean(bean).run(context -> assertThat(context).hasNotFailed());
    }
}
