/** The outbox in a database of the application. */
@NullMarked
package io.easykit.cache.jdbc;

import org.jspecify.annotations.NullMarked;
