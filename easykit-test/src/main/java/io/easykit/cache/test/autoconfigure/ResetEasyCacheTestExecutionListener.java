package io.easykit.cache.test.autoconfigure;

import io.easykit.cache.test.EasyCacheTester;
import io.easykit.cache.test.TestCacheParts;
import org.springframework.core.Ordered;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestExecutionListener;
import org.springframework.util.ClassUtils;

/** Empties the cache after each test method, because other tests share the application context. */
final class ResetEasyCacheTestExecutionListener implements TestExecutionListener, Ordered {

    /** After the roll-back of the test's transaction, which ends updates: listeners end in the opposite order. */
    private static final int ORDER = 3600;

    /** Tests without the cache load this listener too. */
    private static final boolean HAS_CACHE = ClassUtils.isPresent(
            "io.easykit.cache.engine.EasyCacheEngine", ResetEasyCacheTestExecutionListener.class.getClassLoader());

    @Override
    public int getOrder() {
        return ORDER;
    }

    @Override
    public void beforeTestMethod(TestContext testContext) {
        if (hasParts(testContext)) {
            // The context may be as old as an earlier test class.
            testContext.getApplicationContext().getBean(TestCacheParts.class).startAtPresent();
        }
    }

    @Override
    public void afterTestMethod(TestContext testContext) {
        if (hasParts(testContext)) {
            // A test that replaces the cache, for example by a mock, has none.
            testContext
                    .getApplicationContext()
                    .getBeanProvider(EasyCacheTester.class)
                    .ifAvailable(EasyCacheTester::reset);
        }
    }

    private static boolean hasParts(TestContext testContext) {
        return HAS_CACHE
                && testContext.hasApplicationContext()
                && testContext
                                .getApplicationContext()
                                .getBeanProvider(TestCacheParts.class)
                                .getIfUnique()
                        != null;
    }
}
