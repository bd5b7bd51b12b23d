/**
 * The engine: sends, claims, runs handlers, renews leases. Public are {@link io.easykit.delayqueue.engine.DelayQueueEngine},
 * which builds it, and {@link io.easykit.delayqueue.engine.ListenerContainer}.
 */
@NullMarked
package io.easykit.delayqueue.engine;

import org.jspecify.annotations.NullMarked;
