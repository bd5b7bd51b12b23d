package io.easykit.cache.test.autoconfigure;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.MergedContextConfiguration;
import org.springframework.test.context.TestContextAnnotationUtils;

/** Enables the cache for tests with the annotation, where the properties of all tests disable it. */
final class EnableEasyCacheContextCustomizerFactory implements ContextCustomizerFactory {

    @Override
    public @Nullable ContextCustomizer createContextCustomizer(
            Class<?> testClass, List<ContextConfigurationAttributes> configAttributes) {
        return TestContextAnnotationUtils.hasAnnotation(testClass, AutoConfigureTestEasyCache.class)
                ? new EnableEasyCache()
                : null;
    }

    /** Equal to all others, so that tests share their application contexts. */
    private record EnableEasyCache() implements ContextCustomizer {

        @Override
        public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration config) {
            context.getEnvironment()
                    .getPropertySources()
                    .addFirst(
                            new MapPropertySource("@AutoConfigureTestEasyCache", Map.of("easy-cache.enabled", "true")));
        }
    }
}
