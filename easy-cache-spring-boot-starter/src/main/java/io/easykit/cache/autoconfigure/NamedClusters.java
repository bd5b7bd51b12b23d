package io.easykit.cache.autoconfigure;

import io.easykit.boot.InvalidConfigurationException;
import io.easykit.boot.Problem;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisProperties;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The further Redis clusters of the cache, by {@code clusterId}.
 *
 * <p>Each is created by Spring Boot's auto-configuration in a small separate context. So every setting of
 * {@code spring.data.redis} has its usual meaning, and the beans are invisible to the application.
 */
final class NamedClusters implements SmartLifecycle, DisposableBean {

    /** Bean name of Spring Boot's settings: a bean with this name replaces them. */
    private static final String PROPERTIES_BEAN = "spring.data.redis-" + DataRedisProperties.class.getName();

    private final Map<String, AnnotationConfigApplicationContext> contexts = new LinkedHashMap<>();
    private final Map<String, RedisConnections> connections = new LinkedHashMap<>();
    private volatile boolean running;

    /** @throws InvalidConfigurationException with the problems of all clusters */
    NamedClusters(EasyCacheProperties settings, @Nullable SslBundles sslBundles) {
        List<Problem> problems = new ArrayList<>();
        settings.clusters().forEach((id, properties) -> {
            try {
                add(id, contextOf(id, properties, sslBundles), settings);
            } catch (RuntimeException refused) {
                problems.add(ClusterSettings.problem(id, refused));
            }
        });
        if (!problems.isEmpty()) {
            destroy();
            throw new InvalidConfigurationException(problems);
        }
    }

    private void add(String id, AnnotationConfigApplicationContext context, EasyCacheProperties settings) {
        contexts.put(id, context);
        LettuceConnectionFactory factory = context.getBean(LettuceConnectionFactory.class);
        connections.put(
                id,
                new RedisConnections(
                        factory,
                        settings.keyPrefix(),
                        settings.commandTimeout(),
                        settings.near().hints()));
    }

    Map<String, RedisConnections> connections() {
        return connections;
    }

    @Override
    public void start() {
        connections.values().forEach(RedisConnections::start);
        running = true;
    }

    @Override
    public void stop() {
        running = false;
        List<Runnable> steps = new ArrayList<>();
        connections.values().forEach(one -> steps.add(one::stop));
        StopSteps.make(steps);
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return RedisConnections.PHASE;
    }

    @Override
    public void destroy() {
        running = false;
        List<Runnable> steps = new ArrayList<>();
        connections.values().forEach(one -> steps.add(one::destroy));
        contexts.values().forEach(one -> steps.add(one::close));
        StopSteps.make(steps);
    }

    private static AnnotationConfigApplicationContext contextOf(
            String id, DataRedisProperties properties, @Nullable SslBundles sslBundles) {
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        context.setDisplayName("easy-cache cluster " + id);
        context.setEnvironment(new EmptyEnvironment());
        context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor());
        context.registerBean(PROPERTIES_BEAN, DataRedisProperties.class, () -> properties);
        if (sslBundles != null) {
            context.registerBean(SslBundles.class, () -> sslBundles);
        }
        context.register(DataRedisAutoConfiguration.class);
        context.refresh();
        return context;
    }

    /** The settings are already bound. The application's own must not be visible. */
    private static final class EmptyEnvironment extends StandardEnvironment {

        @Override
        protected void customizePropertySources(MutablePropertySources none) {}
    }
}
