/**
 * Time of the engine and the threads of its rounds, which a test can replace.
 *
 * <p>{@link DetachedThread} is for the modules of this library, and may change in any release.
 */
@NullMarked
package io.easykit.cache.time;

import org.jspecify.annotations.NullMarked;
