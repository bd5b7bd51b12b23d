package io.easykit.delayqueue.test.autoconfigure;

import org.springframework.boot.test.autoconfigure.TestSliceTestContextBootstrapper;

/** Bootstraps tests with {@link DelayQueueTest}. */
final class DelayQueueTestContextBootstrapper extends TestSliceTestContextBootstrapper<DelayQueueTest> {}
