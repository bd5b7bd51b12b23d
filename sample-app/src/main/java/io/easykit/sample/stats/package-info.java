/** Number of database reads. */
@NullMarked
package io.easykit.sample.stats;

import org.jspecify.annotations.NullMarked;
