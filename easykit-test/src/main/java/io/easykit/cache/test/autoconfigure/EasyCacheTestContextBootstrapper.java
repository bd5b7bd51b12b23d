package io.easykit.cache.test.autoconfigure;

import org.springframework.boot.test.autoconfigure.TestSliceTestContextBootstrapper;

/** Bootstraps tests with {@link EasyCacheTest}. */
final class EasyCacheTestContextBootstrapper extends TestSliceTestContextBootstrapper<EasyCacheTest> {}
