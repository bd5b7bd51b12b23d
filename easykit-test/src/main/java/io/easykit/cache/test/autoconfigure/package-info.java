/** The cache in memory in tests of Spring Boot applications. */
@NullMarked
package io.easykit.cache.test.autoconfigure;

import org.jspecify.annotations.NullMarked;
