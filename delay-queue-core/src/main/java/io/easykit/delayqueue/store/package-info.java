/** The interface between the engine and the place where messages are stored. {@code redis} implements it. */
@NullMarked
package io.easykit.delayqueue.store;

import org.jspecify.annotations.NullMarked;
