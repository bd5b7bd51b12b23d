package io.easykit.delayqueue.test.autoconfigure;

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

/** Settings of a test with a delay queue in memory. They override the properties of the application and of all tests. */
final class EnableDelayQueueContextCustomizerFactory implements ContextCustomizerFactory {

    @Override
    public @Nullable ContextCustomizer createContextCustomizer(
            Class<?> testClass, List<ContextConfigurationAttributes> configAttributes) {
        return TestContextAnnotationUtils.hasAnnotation(testClass, AutoConfigureTestDelayQueue.class)
                ? new EnableDelayQueue()
                : null;
    }

    /** The longest lease: the relay of the outbox queries the database at the commits, and else six times in it. */
    private static final Map<String, Object> SETTINGS =
            Map.of("delay-queue.enabled", "true", "delay-queue.outbox.lease", "1h");

    /** Equal to all others, so that tests share their application contexts. */
    private record EnableDelayQueue() implements ContextCustomizer {

        @Override
        public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration config) {
            context.getEnvironment()
                    .getPropertySources()
                    .addFirst(new MapPropertySource("@AutoConfigureTestDelayQueue", SETTINGS));
        }
    }
}
