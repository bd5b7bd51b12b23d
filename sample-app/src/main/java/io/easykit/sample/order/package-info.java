/** Orders: stock is reserved for a limited time, and returned if the order is not paid. */
@NullMarked
package io.easykit.sample.order;

import org.jspecify.annotations.NullMarked;
