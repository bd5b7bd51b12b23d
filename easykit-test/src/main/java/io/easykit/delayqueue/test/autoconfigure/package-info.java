/** The queue in memory in tests of Spring Boot applications. */
@NullMarked
package io.easykit.delayqueue.test.autoconfigure;

import org.jspecify.annotations.NullMarked;
