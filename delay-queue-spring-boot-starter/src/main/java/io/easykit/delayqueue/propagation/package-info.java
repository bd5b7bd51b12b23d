/** Context of the sender that its messages carry to the handler. */
@NullMarked
package io.easykit.delayqueue.propagation;

import org.jspecify.annotations.NullMarked;
