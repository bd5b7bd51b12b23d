/** What the delay queue keeps in the application's database. */
@NullMarked
package io.easykit.delayqueue.jdbc;

import org.jspecify.annotations.NullMarked;
