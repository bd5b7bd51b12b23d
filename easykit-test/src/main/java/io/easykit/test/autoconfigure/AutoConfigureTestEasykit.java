package io.easykit.test.autoconfigure;

import io.easykit.cache.test.autoconfigure.AutoConfigureTestEasyCache;
import io.easykit.delayqueue.test.autoconfigure.AutoConfigureTestDelayQueue;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * {@link AutoConfigureTestDelayQueue} and {@link AutoConfigureTestEasyCache} together, for an application with both products.
 * They have one time: what advances it runs the handlers, refreshes and rounds of both.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@AutoConfigureTestDelayQueue
@AutoConfigureTestEasyCache
public @interface AutoConfigureTestEasykit {}
