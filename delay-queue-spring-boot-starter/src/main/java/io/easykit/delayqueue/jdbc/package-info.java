/** What the delay queue keeps in the application's database. No type is API; all may change in any release. */
@NullMarked
package io.easykit.delayqueue.jdbc;

import org.jspecify.annotations.NullMarked;
