/** Spring's transactions for the queue. No type is API; all may change in any release. */
@NullMarked
package io.easykit.delayqueue.transaction;

import org.jspecify.annotations.NullMarked;
