/** Orders: stock is reserved for a while, and goes back if nobody pays. */
@NullMarked
package io.easykit.sample.order;

import org.jspecify.annotations.NullMarked;
