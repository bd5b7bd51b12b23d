/**
 * Spring's own cache annotations over easy-cache: a {@code CacheManager}, and an interceptor that runs annotated methods by the
 * protocol.
 */
@NullMarked
package io.easykit.cache.springcache;

import org.jspecify.annotations.NullMarked;
