package io.easykit.cache.test.autoconfigure;

import io.easykit.cache.CacheListener;
import io.easykit.cache.ValueCodec;
import io.easykit.cache.autoconfigure.EasyCacheAutoConfiguration;
import io.easykit.cache.autoconfigure.EntryStores;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.test.EasyCacheTester;
import io.easykit.cache.test.TestCacheParts;
import io.easykit.cache.time.EngineTime;
import io.easykit.delayqueue.time.VirtualTime;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;
import org.springframework.core.env.Environment;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * The parts that {@link AutoConfigureTestEasyCache} puts in place of Redis and of real time. A child context uses those of its
 * parent, which has the engine.
 */
@AutoConfiguration(before = EasyCacheAutoConfiguration.class)
@ConditionalOnMissingBean(TestCacheParts.class)
public final class TestEasyCacheAutoConfiguration {

    private static final boolean HAS_TRANSACTIONS = ClassUtils.isPresent(
            "org.springframework.transaction.support.TransactionSynchronizationManager",
            TestEasyCacheAutoConfiguration.class.getClassLoader());

    TestEasyCacheAutoConfiguration() {}

    /** In the time of the test's delay queue, if it has one. */
    @Bean
    TestCacheParts testEasyCacheParts(Environment environment, ObjectProvider<VirtualTime> time) {
        Set<String> clusters = Binder.get(environment)
                .bind("easy-cache.clusters", Bindable.mapOf(String.class, Object.class))
                .orElse(Map.of())
                .keySet();
        VirtualTime shared = time.getIfAvailable();
        return shared == null
                ? TestCacheParts.withOwnTime(clusters, () -> HAS_TRANSACTIONS && ActiveTransaction.isJoined())
                : TestCacheParts.in(shared, clusters);
    }

    /** Preferred to stores that the application defines. */
    @Bean
    @Primary
    EntryStores testEasyCacheStores(TestCacheParts parts) {
        return parts::stores;
    }

    @Bean
    EngineTime testEasyCacheTime(TestCacheParts parts) {
        return parts.engineTime();
    }

    @Bean
    CacheListener testEasyCacheRecorder(TestCacheParts parts) {
        return parts.recorder();
    }

    /** Null if the application or the test has replaced the cache, for example by a mock. */
    @Bean
    @Nullable EasyCacheTester easyCacheTester(TestCacheParts parts, ObjectProvider<EasyCacheEngine> cache, ValueCodec codec) {
        EasyCacheEngine engine = cache.getIfAvailable();
        if (engine == null) {
            return null;
        }
        return parts.tester(engine, codec, () -> HAS_TRANSACTIONS && ActiveTransaction.exists());
    }

    /** Loaded with its class of Spring only. */
    private static final class ActiveTransaction {

        static boolean exists() {
            return TransactionSynchronizationManager.isActualTransactionActive();
        }

        /** Whether a reload on this thread would join a transaction, or the synchronizations of a method without one. */
        static boolean isJoined() {
            return exists() || TransactionSynchronizationManager.isSynchronizationActive();
        }
    }
}
