package io.easykit.delayqueue.listener;

import io.easykit.boot.DurationTexts;
import io.easykit.delayqueue.AckMode;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageHandler;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.engine.ListenerContainer;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;

/**
 * Creates a listener for each annotated method: bean → endpoint → container → registry. Methods and attributes are
 * checked when their bean is created. Containers follow after all singletons are created, so that no bean is created
 * early because of them. Until then problems are collected, so that one start reports all of them.
 *
 * <p>A bean that is created on demand only, such as a lazy or prototype bean, would silently receive no messages. Such
 * listeners are rejected.
 *
 * <p>A bean post-processor must not depend on other beans, so this one takes suppliers.
 */
public final class DelayListenerBeanPostProcessor implements BeanPostProcessor, BeanFactoryAware, Ordered {

    private static final Logger log = LoggerFactory.getLogger("delay-queue");

    private final Environment environment;
    private final Supplier<TopicSettingsTable> settings;
    private final Supplier<DelayQueueEngine> engine;
    private final Supplier<DelayListenerRegistry> registry;
    private final Set<Class<?>> withoutListeners = ConcurrentHashMap.newKeySet();

    private final Set<String> processed = ConcurrentHashMap.newKeySet();
    private final Map<String, ListenerMethod> ids = new LinkedHashMap<>();
    private final List<Candidate> candidates = new ArrayList<>();
    private final List<InvalidDelayListenerException> problems = new ArrayList<>();
    private final List<Endpoint> endpoints = new ArrayList<>();
    private final List<Registered> registered = new ArrayList<>();
    private boolean complete;
    private @Nullable ConfigurableListableBeanFactory beans;

    public DelayListenerBeanPostProcessor(
            Environment environment,
            Supplier<TopicSettingsTable> settings,
            Supplier<DelayQueueEngine> engine,
            Supplier<DelayListenerRegistry> registry) {
        this.environment = environment;
        this.settings = settings;
        this.engine = engine;
        this.registry = registry;
    }

    /** Checks listeners by the types of bean definitions, in a start that fails anyway. Creates no bean. */
    public static List<InvalidDelayListenerException> ofTypes(
            Environment environment,
            TopicSettingsTable settings,
            ConfigurableListableBeanFactory beans,
            Function<Type, @Nullable String> problemWith) {
        Supplier<DelayQueueEngine> none = () -> {
            throw new IllegalStateException("No listener is registered");
        };
        DelayListenerBeanPostProcessor processor = new DelayListenerBeanPostProcessor(
                environment, () -> settings, none, () -> new DelayListenerRegistry(false));
        processor.setBeanFactory(beans);
        ListenerScan.atStart(beans).forEach(processor::inspect);
        return processor.complete(problemWith);
    }

    /** Whether a class has annotated methods. */
    public static boolean hasListeners(Class<?> type) {
        return !ListenerMethod.find(type).isEmpty();
    }

    @Override
    public void setBeanFactory(BeanFactory beanFactory) {
        this.beans = beanFactory instanceof ConfigurableListableBeanFactory listable ? listable : null;
    }

    /** Other post-processors have this order too, and may wrap a bean after this one: see {@link #exposed}. */
    @Override
    public int getOrder() {
        return Ordered.LOWEST_PRECEDENCE;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        Class<?> type = AopProxyUtils.ultimateTargetClass(bean);
        if (bean instanceof AopInfrastructureBean
                || withoutListeners.contains(type)
                || (beans != null && ListenerScan.isScopedTargetOnDemand(beans, beanName))) {
            return bean;
        }
        Map<Method, DelayListener> methods = ListenerMethod.find(type);
        if (methods.isEmpty()) {
            withoutListeners.add(type);
            return bean;
        }
        processed.add(beanName);
        try {
            List<Endpoint> late = new ArrayList<>();
            methods.forEach((method, annotation) -> {
                Endpoint one = inspect(new ListenerMethod(beanName, bean, type, method), annotation);
                if (one != null) {
                    late.add(one);
                }
            });
            late.forEach(this::register);
        } catch (RuntimeException | Error refused) {
            withdraw(beanName, bean);
            throw refused;
        }
        return bean;
    }

    /** A late bean of which one listener is refused is not created. Its other listeners must not run. */
    private void withdraw(String beanName, Object bean) {
        List<Registered> withdrawn;
        synchronized (ids) {
            ids.values().removeIf(where -> where.isOf(beanName, bean));
            withdrawn = registered.stream()
                    .filter(one -> one.where().isOf(beanName, bean))
                    .toList();
            registered.removeIf(one -> one.where().isOf(beanName, bean));
        }
        withdrawn.forEach(one -> registry.get().unregister(one.container()));
    }

    /**
     * Problems during the start are collected. Later ones are thrown at once.
     *
     * @return the listener of a late bean, which starts after all methods of the bean have been checked; null during the start
     */
    private @Nullable Endpoint inspect(ListenerMethod where, DelayListener annotation) {
        try {
            return add(candidate(where, annotation));
        } catch (InvalidDelayListenerException problem) {
            synchronized (ids) {
                if (complete) {
                    throw problem;
                }
                problems.add(problem);
            }
            return null;
        }
    }

    /**
     * Checks the listeners found so far, after it has created those that only a factory can make. From now on problems are
     * thrown when they are found.
     *
     * @param problemWith returns the reason why payloads of a type cannot be read, or null
     */
    public List<InvalidDelayListenerException> complete(Function<Type, @Nullable String> problemWith) {
        if (beans != null) {
            ListenerScan.products(beans).forEach(beans::getBean);
        }
        List<Candidate> all;
        List<InvalidDelayListenerException> found;
        synchronized (ids) {
            complete = true;
            all = List.copyOf(candidates);
            candidates.clear();
            found = new ArrayList<>(problems);
        }
        for (Candidate candidate : all) {
            try {
                candidate.invoker().resolve();
                PayloadRules.requireReadable(candidate, problemWith);
                endpoints.add(new Endpoint(candidate, endpoint(candidate)));
            } catch (InvalidDelayListenerException problem) {
                found.add(problem);
            }
        }
        found.addAll(PayloadRules.differences(all));
        if (beans != null) {
            ListenerScan.onDemand(beans)
                    .forEach(where -> found.add(where.problem(
                            "the bean is created on demand only (it is lazy, or has another scope than"
                                    + " singleton), so its messages would never be delivered",
                            "Remove @Lazy or the scope, or move the method to a bean that is a singleton.")));
            ListenerScan.missed(beans, processed).forEach(DelayListenerBeanPostProcessor::warnOfBeanBeforeItsTime);
        }
        return found;
    }

    /** Beans needed by other post-processors are created before this one, and are not processed. */
    private static void warnOfBeanBeforeItsTime(String name, Class<?> type) {
        log.warn(
                "Listeners of bean '{}' ({}) receive no messages: the bean was created too early,"
                        + " because a BeanPostProcessor or BeanFactoryPostProcessor needs it, or it was"
                        + " registered as an instance. Inject an ObjectProvider of it into the"
                        + " post-processor. (A mock receives no messages either.)",
                name,
                type.getName());
    }

    /** Creates the containers after a successful start. */
    public void registerListeners() {
        endpoints.forEach(this::register);
        endpoints.clear();
    }

    /**
     * Returns the listener on the bean as other beans get it. The one that was processed may lack a proxy, for example that of
     * {@code @Validated}. Called when all beans are complete. The first message of a late bean calls it, and waits for that bean.
     */
    private ListenerMethod exposed(ListenerMethod where) {
        String name = where.beanName();
        if (beans == null || where.isType() || !beans.containsLocalBean(name) || !beans.isSingleton(name)) {
            return where;
        }
        boolean isFactory = FactoryBean.class.isAssignableFrom(where.targetClass());
        return where.on(beans.getBean(isFactory ? BeanFactory.FACTORY_BEAN_PREFIX + name : name));
    }

    private Candidate candidate(ListenerMethod where, DelayListener annotation) {
        MethodRules.requireAnnotated(where);
        MethodRules.requireOneAnnotation(where);
        MethodRules.requireOneOrigin(where);
        MethodRules.requireInvocable(where);
        MethodRules.requireSynchronous(where);
        MethodRules.requireUncached(where);
        MethodRules.requireValidated(where);
        ListenerAttributes attributes = ListenerAttributes.of(where, annotation, environment);
        ListenerSignature signature = attributes.signature(where, environment);
        return new Candidate(where, attributes, signature, new ListenerInvoker(() -> exposed(where), signature));
    }

    private @Nullable Endpoint add(Candidate candidate) {
        ListenerMethod other;
        boolean late;
        synchronized (ids) {
            other = ids.putIfAbsent(candidate.attributes().id(), candidate.where());
            late = complete;
            if (!late) {
                candidates.add(candidate);
            }
        }
        if (other != null) {
            throw candidate
                    .where()
                    .problem(
                            "its id '" + candidate.attributes().id() + "' is also that of " + other.describe(),
                            "Set a different id on each. The default id is the topic. Several listeners of a"
                                    + " topic share its messages; each message goes to one of them.");
        }
        return late ? new Endpoint(candidate, endpoint(candidate)) : null;
    }

    private void register(Endpoint complete) {
        Candidate candidate = complete.candidate();
        ListenerEndpoint endpoint = complete.endpoint();
        ListenerContainer container = candidate.attributes().batchSize() == null
                ? engine.get().container(endpoint, (MessageHandler<Object>) candidate.invoker())
                : engine.get().batchContainer(endpoint, (MessageHandler.Batch<Object>) candidate.invoker());
        if (container == null) {
            log.warn(
                    "Listener '{}' receives no messages: the DelayQueueEngine returned no container for it, as a mock does."
                            + " Replace DelayQueueTemplate by a mock instead, or call the listener's method in the test.",
                    endpoint.id());
            return;
        }
        registry.get().registerAnnotated(container);
        synchronized (ids) {
            registered.add(new Registered(candidate.where(), container));
        }
        log.info(
                "Listener '{}' of topic '{}': {}, concurrency {}, lease {}, {} attempts",
                endpoint.id(),
                endpoint.topic(),
                candidate.where().describe(),
                endpoint.concurrency(),
                DurationTexts.text(endpoint.lease()),
                endpoint.retry().maxAttempts());
    }

    private ListenerEndpoint endpoint(Candidate candidate) {
        ListenerAttributes attributes = candidate.attributes();
        ListenerSignature signature = candidate.signature();
        String topic = attributes.topic();
        try {
            ListenerEndpoint.Builder endpoint = attributes
                    .endpoint(signature.payloadType())
                    .ackMode(signature.manual() ? AckMode.MANUAL : AckMode.AUTO)
                    .errorHandler(ErrorHandlerBean.of(candidate.where(), attributes.errorHandler(), beans))
                    .stopTimeout(settings.get().stopTimeout());
            if (attributes.batchSize() != null) {
                endpoint.batchSize(attributes.batchSize());
            }
            TopicSettings all = settings.get().settings(candidate.where(), attributes);
            all.applyTo(endpoint, endpoint.build().retry());
            if (Boolean.TRUE.equals(all.idempotent())) {
                endpoint.idempotencyStore(IdempotentListener.store(candidate.where(), attributes, signature, beans));
            }
            return endpoint.build();
        } catch (IllegalArgumentException e) {
            throw candidate
                    .where()
                    .problem(
                            String.valueOf(e.getMessage()).replaceFirst("\\.$", ""),
                            "Correct it in the annotation, under delay-queue.topics[" + topic
                                    + "], or under delay-queue.defaults.",
                            e);
        }
    }

    private record Endpoint(Candidate candidate, ListenerEndpoint endpoint) {}

    private record Registered(ListenerMethod where, ListenerContainer container) {}
}
