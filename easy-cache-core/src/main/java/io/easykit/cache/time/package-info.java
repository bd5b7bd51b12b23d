/** Time of the engine and the threads of its rounds, which a test can replace. */
@NullMarked
package io.easykit.cache.time;

import org.jspecify.annotations.NullMarked;
