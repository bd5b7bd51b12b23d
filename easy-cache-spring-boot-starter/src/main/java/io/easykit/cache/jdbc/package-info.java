/** The outbox in the application's database. No type is API; all may change in any release. */
@NullMarked
package io.easykit.cache.jdbc;

import org.jspecify.annotations.NullMarked;
