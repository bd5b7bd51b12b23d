package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.listener.DelayListenerRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** An application without a web server whose main method returns, in a separate process. Its arguments are settings. */
final class WorkerProcess {

    static final String TOPIC = "keep-alive";
    static final String MAIN_RETURNS = "main returns";
    static final String HANDLED = "handled ";

    private WorkerProcess() {}

    public static void main(String[] settings) {
        SpringApplication application = new SpringApplication(Application.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        application.run(settings);
        System.out.println(MAIN_RETURNS);
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({DataRedisAutoConfiguration.class, DelayQueueAutoConfiguration.class})
    static class Application {

        @Bean
        @ConditionalOnProperty(name = "worker.listens", matchIfMissing = true)
        Worker worker(ObjectProvider<DelayListenerRegistry> registry) {
            return new Worker(registry);
        }

        @Bean
        @ConditionalOnProperty("worker.fails")
        ApplicationRunner failing() {
            return arguments -> {
                throw new IllegalStateException("no use");
            };
        }
    }

    static class Worker {

        private final ObjectProvider<DelayListenerRegistry> registry;

        Worker(ObjectProvider<DelayListenerRegistry> registry) {
            this.registry = registry;
        }

        @DelayListener(topic = TOPIC)
        void on(String text) {
            if (text.equals("stop")) {
                registry.getObject().stop();
            }
            System.out.println(HANDLED + text);
        }
    }
}
