package io.easykit.delayqueue.test.autoconfigure;

import io.easykit.delayqueue.test.DelayQueueTester;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;

/**
 * Replaces Redis by a queue in memory and real time by virtual time, for the delay queue of a test's application. Inject
 * {@link DelayQueueTester} to move the time and to check messages. After each test method the queue is emptied, faults end, and
 * listeners are as they were before it. The setting {@code delay-queue.enabled} is true.
 *
 * <pre>{@code
 * @SpringBootTest
 * @AutoConfigureTestDelayQueue
 * class OrderTests {
 *
 *     @Autowired
 *     DelayQueueTester queue;
 * }
 * }</pre>
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ImportAutoConfiguration
public @interface AutoConfigureTestDelayQueue {}
