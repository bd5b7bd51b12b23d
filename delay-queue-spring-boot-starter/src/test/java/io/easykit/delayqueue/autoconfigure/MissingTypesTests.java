package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.boot.InvalidConfigurationException;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.listener.DelayListenerRegistry;
import io.easykit.test.ClassesWithout;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** A bean that is created on demand may use classes of an optional dependency that the application does not have. */
class MissingTypesTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(DataRedisAutoConfiguration.class, DelayQueueAutoConfiguration.class))
            .withPropertyValues("spring.data.redis.port=1", "delay-queue.auto-startup=false")
            .withBean(Orders.class);

    static class Optional {}

    static class Exporter {
        public void export(Optional format) {}
    }

    /** Its superclass cannot be read. */
    static class Report extends Exporter {
        @DelayListener(topic = "reports")
        void on(String report) {}
    }

    static class Orders {
        @DelayListener(topic = "orders")
        void on(String order) {}
    }

    private static Class<?> withoutOptional(Class<?> type) {
        return new ClassesWithout(Optional.class, Exporter.class, Report.class, OwnReport.class).load(type);
    }

    private ApplicationContextRunner with(Class<?> type, String scope) {
        RootBeanDefinition bean = new RootBeanDefinition(withoutOptional(type));
        bean.setScope(scope);
        if (!scope.isEmpty()) {
            bean.setLazyInit(true);
        }
        return runner.withInitializer(
                context -> ((BeanDefinitionRegistry) context).registerBeanDefinition("onDemand", bean));
    }

    private static void startsWithTheOtherListeners(ApplicationContextRunner application) {
        application.run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(context.getBean(DelayListenerRegistry.class).topics()).containsExactly("orders");
        });
    }

    /** It cannot be read itself. */
    static class OwnReport {
        @DelayListener(topic = "reports")
        void on(String report) {}

        public void export(Optional format) {}
    }

    @ParameterizedTest
    @ValueSource(strings = {"singleton", "prototype"})
    void doNotFailTheStart(String scope) {
        startsWithTheOtherListeners(with(Exporter.class, scope));
    }

    /** All beans are lazy but those with listeners, so the methods of all beans are read. */
    @Test
    void doNotFailALazyStart() {
        startsWithTheOtherListeners(lazily(Exporter.class));
    }

    private ApplicationContextRunner lazily(Class<?> type) {
        return with(type, "")
                .withInitializer(context ->
                        context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()));
    }

    /** It would silently receive nothing. */
    @ParameterizedTest
    @ValueSource(classes = {Report.class, OwnReport.class})
    void failTheStartOfAListener(Class<?> type) {
        for (ApplicationContextRunner application :
                List.of(with(type, "singleton"), with(type, "prototype"), lazily(type))) {
            application.run(context -> assertThat(context.getStartupFailure())
                    .isInstanceOf(InvalidConfigurationException.class)
                    .hasMessageContaining("The methods of " + type.getName() + ", which has listeners, cannot be read")
                    .hasMessageContaining("Optional"));
        }
    }

    @Test
    void failTheCreationOfTheirBean() {
        with(Exporter.class, "singleton").run(context -> assertThatThrownBy(() -> context.getBean("onDemand"))
                .isInstanceOf(BeanCreationException.class)
                .hasRootCauseInstanceOf(ClassNotFoundException.class)
                .hasStackTraceContaining(Exporter.class.getName()));
    }
}
