/** easy-cache in a Spring Boot application: settings under {@code easy-cache}, and the beans that follow from them. */
@NullMarked
package io.easykit.cache.autoconfigure;

import org.jspecify.annotations.NullMarked;
