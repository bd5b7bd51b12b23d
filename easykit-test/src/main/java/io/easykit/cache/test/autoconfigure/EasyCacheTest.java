package io.easykit.cache.test.autoconfigure;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.autoconfigure.OverrideAutoConfiguration;
import org.springframework.boot.test.context.filter.annotation.TypeExcludeFilters;
import org.springframework.context.annotation.ComponentScan.Filter;
import org.springframework.core.annotation.AliasFor;
import org.springframework.test.context.BootstrapWith;
import org.springframework.test.context.junit.jupiter.SpringExtension;

/**
 * A test of cached methods alone, with the cache of {@link AutoConfigureTestEasyCache}. No auto-configuration other than that
 * of the cache and of its proxies applies. Of the components found by scanning, those with cached or updating methods are
 * created, and listeners, codecs and customizers of the cache. Import or mock the beans that they need.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@BootstrapWith(EasyCacheTestContextBootstrapper.class)
@ExtendWith(SpringExtension.class)
@OverrideAutoConfiguration(enabled = false)
@TypeExcludeFilters(EasyCacheTypeExcludeFilter.class)
@AutoConfigureTestEasyCache
@ImportAutoConfiguration
public @interface EasyCacheTest {

    /** Properties of the environment, as {@code name=value}. */
    String[] properties() default {};

    /** Whether only components of the cache are created. */
    boolean useDefaultFilters() default true;

    /** Components to create besides. */
    Filter[] includeFilters() default {};

    /** Components to leave out. */
    Filter[] excludeFilters() default {};

    /** Auto-configurations to leave out. */
    @AliasFor(annotation = ImportAutoConfiguration.class, attribute = "exclude")
    Class<?>[] excludeAutoConfiguration() default {};
}
