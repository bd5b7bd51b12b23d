/**
 * Spring's own cache annotations over easy-cache: a {@code CacheManager}, and an interceptor that runs annotated methods by the
 * protocol.
 *
 * <p>No type is API; all may change in any release.
 */
@NullMarked
package io.easykit.cache.springcache;

import org.jspecify.annotations.NullMarked;
