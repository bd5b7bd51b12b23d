package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.test.StartFailure;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Declarations of updates that clear a cache. */
@ExtendWith(OutputCaptureExtension.class)
class ClearingDeclarationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    AopAutoConfiguration.class, DataRedisAutoConfiguration.class, EasyCacheAutoConfiguration.class))
            .withPropertyValues("spring.data.redis.port=1");

    static class Users {
        @Cacheable(
                prefix = "user",
                keys = {"#tenant", "#id"})
        public String find(String tenant, long id) {
            return "Ada";
        }

        @UpdateCache(prefix = "user", all = true)
        public void importAll() {}
    }

    static class KeysAndAll {
        @UpdateCache(prefix = "user", all = true, keys = "#id")
        public void update(long id) {}
    }

    static class BatchAndAll {
        @UpdateCache(prefix = "user", all = true, batch = true)
        public void update() {}
    }

    static class NeitherKeysNorAll {
        @UpdateCache(prefix = "user")
        public void update(long id) {}
    }

    @Test
    void areLoggedWithTheTimeUntilOtherNodesFollow(CapturedOutput output) {
        runner.withBean(Users.class).run(context -> assertThat(context).hasNotFailed());
        assertThat(output)
                .contains("easy-cache: ClearingDeclarationTests.Users.importAll() clears user on default, other nodes"
                        + " follow within a probe interval");
    }

    @Test
    void areLoggedWithTheWaitOfAStrongCache(CapturedOutput output) {
        runner.withBean(Users.class)
                .withPropertyValues("easy-cache.caches.user.consistency=CP")
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output)
                .contains("Users.importAll() clears user on default, and returns 2 s after its commit, when no node"
                        + " returns an older value");
    }

    @Test
    void haveNoKeys() {
        refuses(
                KeysAndAll.class,
                "all = true invalidates all entries of 'user', but keys names one of them",
                "Remove keys to clear the cache, or all to invalidate one entry.");
    }

    @Test
    void areNoBatch() {
        refuses(
                BatchAndAll.class,
                "all = true and batch = true are on one annotation, but all names no keys that could be several",
                "Remove batch to clear the cache, or replace all by keys to invalidate some entries.");
    }

    @Test
    void areMeantByNoKeysOnlyIfTheySaySo() {
        refuses(
                NeitherKeysNorAll.class,
                "keys is empty, so nothing would be invalidated",
                "Name the parts of the key, for example keys = \"#id\", or set all = true to clear the cache.");
    }

    private void refuses(Class<?> bean, String... parts) {
        runner.withBean(Users.class).withBean(bean).run(context -> {
            assertThat(context).hasFailed();
            FailureAnalysis analysis = StartFailure.analysis(context.getStartupFailure());
            assertThat(analysis).isNotNull();
            assertThat(analysis.getDescription() + " | " + analysis.getAction()).contains(parts);
        });
    }
}
