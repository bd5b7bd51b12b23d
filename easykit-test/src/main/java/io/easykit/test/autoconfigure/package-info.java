/** Tests of Spring Boot applications with both products. */
@NullMarked
package io.easykit.test.autoconfigure;

import org.jspecify.annotations.NullMarked;
