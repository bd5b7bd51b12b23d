/** How often the database was really read. */
@NullMarked
package io.easykit.sample.stats;

import org.jspecify.annotations.NullMarked;
