/** The console's API of the delay queue. No type is API; all may change in any release. */
@NullMarked
package io.easykit.console.queue;

import org.jspecify.annotations.NullMarked;
