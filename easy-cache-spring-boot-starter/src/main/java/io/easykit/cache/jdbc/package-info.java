/** The outbox in the application's database. */
@NullMarked
package io.easykit.cache.jdbc;

import org.jspecify.annotations.NullMarked;
