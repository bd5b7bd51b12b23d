package io.easykit.delayqueue.autoconfigure;

import io.easykit.boot.AheadOfTime;
import io.easykit.boot.BeanChoice;
import io.easykit.boot.BoundSettings;
import io.easykit.boot.Problem;
import io.easykit.boot.RedisFactoryCheck;
import io.easykit.boot.SettingsReport;
import io.easykit.boot.StartCheck;
import io.easykit.delayqueue.DelayTopic;
import io.easykit.delayqueue.ErrorHandler;
import io.easykit.delayqueue.PayloadCodec;
import io.easykit.delayqueue.SendPhase;
import io.easykit.delayqueue.listener.DelayListenerBeanPostProcessor;
import io.easykit.delayqueue.listener.InvalidDelayListenerException;
import io.easykit.delayqueue.listener.SliceRemedy;
import io.easykit.delayqueue.store.SendOutbox;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.Environment;

/** Checks the settings and the listeners of the delay queue. */
final class DelayQueueStartCheck implements StartCheck {

    private final Environment environment;
    private final Supplier<DelayListenerBeanPostProcessor> processor;
    private final Supplier<List<DelayTopic>> topics;
    private final Supplier<Function<Type, @Nullable String>> problemWith;

    /** @param problemWith returns the reason why payloads of a type cannot be read, or null */
    DelayQueueStartCheck(
            Environment environment,
            Supplier<DelayListenerBeanPostProcessor> processor,
            Supplier<List<DelayTopic>> topics,
            Supplier<Function<Type, @Nullable String>> problemWith) {
        this.environment = environment;
        this.processor = processor;
        this.topics = topics;
        this.problemWith = problemWith;
    }

    @Override
    public List<Problem> settings(ConfigurableListableBeanFactory beans) {
        BoundSettings<DelayQueueProperties> settings = bind(environment);
        List<Problem> problems = new ArrayList<>(settings.problems());
        if (beans.containsBeanDefinition("delayQueueConnections")) {
            problems.addAll(RedisFactoryCheck.problems(beans));
        }
        problems.addAll(BeanChoice.several(beans, PayloadCodec.class));
        problems.addAll(outbox(settings.value(), beans));
        problems.addAll(severalErrorHandlers(beans));
        return problems;
    }

    private static List<Problem> outbox(DelayQueueProperties settings, ConfigurableListableBeanFactory beans) {
        boolean exists = !BeanChoice.of(beans, SendOutbox.class).names().isEmpty();
        if (settings.hasOutbox() && !exists) {
            return List.of(AheadOfTime.explain(
                    new Problem(
                            "delay-queue has an outbox (send-phase is outbox, or outbox.enabled is true), but there is no DataSource,"
                                    + " or spring-boot-jdbc is not on the class path.",
                            "Add spring-boot-starter-jdbc (or -data-jpa) and a DataSource, or choose another send-phase."
                                    + remedyOfTests(settings, beans)),
                    "delay-queue.send-phase=outbox or delay-queue.outbox.enabled=true"));
        }
        if (settings.sendPhase() == SendPhase.OUTBOX && !settings.hasOutbox()) {
            return List.of(Problem.setting(
                    "delay-queue.outbox.enabled",
                    "false, but delay-queue.send-phase is outbox",
                    "Remove one of the two settings."));
        }
        return List.of();
    }

    private static String remedyOfTests(DelayQueueProperties settings, ConfigurableListableBeanFactory beans) {
        String setting = settings.sendPhase() == SendPhase.OUTBOX
                ? "delay-queue.send-phase=before-commit"
                : "delay-queue.outbox.enabled=false";
        return SliceRemedy.of(
                beans,
                "In a slice without the database set " + setting
                        + ", or use @AutoConfigureTestDelayQueue with a slice that has it.");
    }

    /** A listener that names no error handler uses the only or primary one. */
    private static List<Problem> severalErrorHandlers(ConfigurableListableBeanFactory beans) {
        return BeanChoice.nearest(beans, ErrorHandler.class).problems(ErrorHandler.class).stream()
                .map(problem -> new Problem(
                        problem.description(),
                        "Put @Primary on the one for listeners that name none, or @Bean(defaultCandidate = false) on"
                                + " those that listeners name by errorHandler."))
                .toList();
    }

    @Override
    public List<Problem> declaredTypes(ConfigurableListableBeanFactory beans) {
        DelayQueueProperties settings = bind(environment).value();
        boolean ownCodec = BeanChoice.of(beans, PayloadCodec.class).names().equals(List.of("delayQueuePayloadCodec"))
                && BeanChoice.of(beans, DelayQueueCustomizer.class).names().isEmpty();
        PayloadCodec codec = settings.json().codec();
        return problems(DelayListenerBeanPostProcessor.ofTypes(
                environment, settings.usableTable(), beans, ownCodec ? codec::problemWith : type -> null));
    }

    @Override
    public List<Problem> declarations() {
        List<Problem> problems = new ArrayList<>(problems(processor.get().complete(problemWith.get())));
        problems.addAll(declaredTwice(topics.get()));
        return problems;
    }

    private static List<Problem> declaredTwice(List<DelayTopic> declared) {
        return declared.stream()
                .collect(Collectors.groupingBy(DelayTopic::name, TreeMap::new, Collectors.counting()))
                .entrySet()
                .stream()
                .filter(topic -> topic.getValue() > 1)
                .map(topic -> new Problem(
                        "Topic '" + topic.getKey() + "' is declared by " + topic.getValue()
                                + " beans of type DelayTopic.",
                        "Declare it once, and inject that bean wherever the topic is used."))
                .toList();
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
