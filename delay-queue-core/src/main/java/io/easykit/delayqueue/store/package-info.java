/**
 * The interface between the engine and the place where messages are stored. {@code redis} implements it.
 *
 * <p>Meant for stores of your own. Types may change in a minor version, except for {@link SendOutbox}.
 */
@NullMarked
package io.easykit.delayqueue.store;

import org.jspecify.annotations.NullMarked;
