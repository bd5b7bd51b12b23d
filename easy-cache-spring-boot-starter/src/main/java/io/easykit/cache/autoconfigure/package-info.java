/** Integrates easy-cache into Spring Boot: settings under {@code easy-cache}, and the beans built from them. */
@NullMarked
package io.easykit.cache.autoconfigure;

import org.jspecify.annotations.NullMarked;
