/** Tests of delayed messages: a queue in memory, virtual time, assertions and faults. */
@NullMarked
package io.easykit.delayqueue.test;

import org.jspecify.annotations.NullMarked;
