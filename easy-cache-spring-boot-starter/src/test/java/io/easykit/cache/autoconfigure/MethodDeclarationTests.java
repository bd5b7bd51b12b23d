package io.easykit.cache.autoconfigure;

import static io.easykit.cache.autoconfigure.Declarations.refuses;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.boot.InvalidConfigurationException;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.aop.PackagePrivateReads;
import io.easykit.cache.autoconfigure.Declarations.User;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Methods and classes that cannot be intercepted, with the reported method and remedy. */
class MethodDeclarationTests {

    private final ApplicationContextRunner runner = Declarations.application();

    static class FinalMethod {
        @Cacheable(prefix = "user", keys = "#id")
        public final User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesAFinalMethod() {
        refuses(FinalMethod.class, "find(long)", "a final method cannot be intercepted", "Remove 'final'");
    }

    static class PrivateMethod {
        @SuppressWarnings("UnusedMethod")
        @Cacheable(prefix = "user", keys = "#id")
        private User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesAPrivateMethod() {
        refuses(PrivateMethod.class, "find(long)", "a private method cannot be intercepted", "public");
    }

    static class InheritedRead extends PackagePrivateReads.Read {}

    static class InheritedUpdate extends PackagePrivateReads.Update {}

    @Test
    void refusesAPackagePrivateMethodOfAnotherPackage() {
        String problem = "a package-private method of another package cannot be intercepted";
        refuses(InheritedRead.class, "find(long)", problem, "protected or public");
        refuses(
                runner.withBean(Declarations.Valid.class),
                InheritedUpdate.class,
                "update(long)",
                problem,
                "protected or public");
    }

    static class InheritedProtected extends PackagePrivateReads.Protected {}

    static class InheritedHere extends PackagePrivate {}

    static class PackagePrivate {
        @Cacheable(prefix = "user", keys = "#id")
        User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void takesInheritedMethodsThatAProxyOverrides() {
        runner.withBean(InheritedProtected.class).withBean(InheritedHere.class).run(context -> assertThat(context)
                .hasNotFailed());
    }

    static class StaticMethod {
        @Cacheable(prefix = "user", keys = "#id")
        public static User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesAStaticMethod() {
        refuses(StaticMethod.class, "find(long)", "a static method cannot be intercepted", "public instance method");
    }

    static final class FinalClass {
        @Cacheable(prefix = "user", keys = "#id")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesAFinalClass() {
        refuses(FinalClass.class, "find(long)", "a final class cannot be proxied", "kotlin-spring");
    }

    record RecordBean() {
        @Cacheable(prefix = "user", keys = "#id")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @Test
    void refusesARecord() {
        refuses(RecordBean.class, "find(long)", "a record cannot be proxied", "a class that is not final");
    }

    static class LazyOne extends KeyDeclarationTests.MisspeltName {}

    @Test
    void refusesWhatALazyBeanDeclaresWithoutCreatingIt() {
        runner.withBean(
                        LazyOne.class,
                        () -> {
                            throw new AssertionError("created");
                        },
                        definition -> definition.setLazyInit(true))
                .run(context -> assertThat(context.getStartupFailure())
                        .isInstanceOf(InvalidConfigurationException.class)
                        .hasMessageContaining("LazyOne.find(long)"));
    }
}
