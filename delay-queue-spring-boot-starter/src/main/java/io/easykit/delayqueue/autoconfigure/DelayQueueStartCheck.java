package io.easykit.delayqueue.autoconfigure;

import io.easykit.boot.BoundSettings;
import io.easykit.boot.Problem;
import io.easykit.boot.RedisFactoryCheck;
import io.easykit.boot.SettingsReport;
import io.easykit.boot.StartCheck;
import io.easykit.delayqueue.listener.DelayListenerBeanPostProcessor;
import io.easykit.delayqueue.listener.InvalidDelayListenerException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.Environment;

/** Checks the settings of the delay queue, and the listeners. */
final class DelayQueueStartCheck implements StartCheck {

    private final Environment environment;
    private final Supplier<DelayListenerBeanPostProcessor> processor;

    DelayQueueStartCheck(Environment environment, Supplier<DelayListenerBeanPostProcessor> processor) {
        this.environment = environment;
        this.processor = processor;
    }

    @Override
    public List<Problem> settings(ConfigurableListableBeanFactory beans) {
        List<Problem> problems = new ArrayList<>(bind(environment).problems());
        if (beans.containsBeanDefinition("delayQueueConnections")) {
            problems.addAll(RedisFactoryCheck.problems(beans));
        }
        return problems;
    }

    @Override
    public List<Problem> declaredTypes(ConfigurableListableBeanFactory beans) {
        return problems(DelayListenerBeanPostProcessor.ofTypes(
                environment, bind(environment).value().usableTable(), beans));
    }

    @Override
    public List<Problem> declarations() {
        return problems(processor.get().complete());
    }

    @Override
    public void passed() {
        processor.get().registerListeners();
    }

    static BoundSettings<DelayQueueProperties> bind(Environment environment) {
        return new SettingsReport("delay-queue").bind(DelayQueueProperties.class, environment);
    }

    private static List<Problem> problems(List<InvalidDelayListenerException> listeners) {
        return listeners.stream().flatMap(one -> one.problems().stream()).toList();
    }
}
