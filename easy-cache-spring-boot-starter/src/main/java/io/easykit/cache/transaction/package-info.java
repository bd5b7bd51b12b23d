/**
 * Spring's transactions for the cache: when an update has ended, and where a load runs whose caller has a transaction or a session.
 * No type is API; all may change in any release.
 */
@NullMarked
package io.easykit.cache.transaction;

import org.jspecify.annotations.NullMarked;
