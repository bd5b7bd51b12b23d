package io.easykit.cache.test.autoconfigure;

import io.easykit.cache.test.EasyCacheTester;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;

/**
 * Replaces Redis by a store in memory and real time by virtual time, for the cache of a test's application. Inject {@link
 * EasyCacheTester} to move the time and to check entries. After each test method the cache is emptied, and faults end. The
 * setting {@code easy-cache.enabled} is true.
 *
 * <pre>{@code
 * @SpringBootTest
 * @AutoConfigureTestEasyCache
 * class UserTests {
 *
 *     @Autowired
 *     EasyCacheTester cache;
 * }
 * }</pre>
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ImportAutoConfiguration
public @interface AutoConfigureTestEasyCache {}
