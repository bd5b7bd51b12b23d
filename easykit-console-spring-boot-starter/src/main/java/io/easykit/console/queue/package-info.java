/** The console's API of the delay queue. */
@NullMarked
package io.easykit.console.queue;

import org.jspecify.annotations.NullMarked;
