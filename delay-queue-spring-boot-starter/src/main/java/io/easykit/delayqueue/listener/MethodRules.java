package io.easykit.delayqueue.listener;

import io.easykit.boot.ClassProxies;
import io.easykit.delayqueue.annotation.DelayListener;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.Caching;
import org.springframework.core.KotlinDetector;
import org.springframework.core.MethodParameter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotatedMethod;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotationPredicates;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.scheduling.annotation.Async;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.validation.annotation.Validated;

/** Checks that a method can be called, and that its work is done when it returns. */
final class MethodRules {

    private static final String WAIT = "Wait for the result in the method, and return nothing.";

    /** Names, because the types may be missing from the class path. */
    private static final List<String> OTHER_CACHEABLE =
            List.of("io.easykit.cache.annotation.Cacheable", "javax.cache.annotation.CacheResult");

    /** Names, for the same reason. */
    private static final Set<String> ASYNCHRONOUS =
            Set.of("org.reactivestreams.Publisher", "kotlinx.coroutines.Job", "kotlinx.coroutines.flow.Flow");

    private static final List<String> VALIDATION = List.of("jakarta.validation.Valid", Validated.class.getName());

    private MethodRules() {}

    /** The method hierarchy of an inherited method has no interface that only a subclass implements. */
    static void requireAnnotated(ListenerMethod where) {
        ListenerMethod.hidden(where.targetClass()).forEach((declared, running) -> {
            if (running.equals(where.method())) {
                String place = running.getDeclaringClass().getName();
                throw where.problem(
                        "the method is that of " + place + ", which is not a "
                                + declared.getDeclaringClass().getName() + ", so the annotation would have no effect",
                        "Override the method in " + where.targetClass().getName()
                                + ", or put the annotation on the method of " + place + ".");
            }
        });
    }

    /** Returns the method to call on the bean, which may be a proxy. */
    static Method requireInvocable(ListenerMethod where) {
        int modifiers = where.method().getModifiers();
        if (Modifier.isPrivate(modifiers) || Modifier.isStatic(modifiers)) {
            throw where.problem(
                    "a " + (Modifier.isStatic(modifiers) ? "static" : "private") + " method cannot be a listener",
                    "Make it an instance method that is not private.");
        }
        if (Modifier.isFinal(modifiers) && AopUtils.isCglibProxy(where.bean())) {
            throw where.problem(
                    "the bean has a class proxy, on which a final method runs without the bean's fields",
                    "Remove 'final' from the method (in Kotlin: 'open', or the plugin kotlin-spring).");
        }
        if (AopUtils.isCglibProxy(where.bean())
                && ClassProxies.cannotOverride(where.method(), where.bean().getClass())) {
            throw where.problem(
                    "the bean has a class proxy, which cannot override a package-private method of another package, so it"
                            + " would run without the bean's fields",
                    "Make the method protected or public.");
        }
        try {
            Method invocable = AopUtils.selectInvocableMethod(where.method(), where.invokedClass());
            ReflectionUtils.makeAccessible(invocable);
            return invocable;
        } catch (IllegalStateException notInTheProxy) {
            throw where.problem(
                    "the bean has an interface proxy, and none of its interfaces has the method",
                    "Declare the method in an interface of the bean, or set spring.aop.proxy-target-class to true.",
                    notInTheProxy);
        }
    }

    /** Spring takes the first annotation. One on an overridden method is replaced on purpose. */
    static void requireOneAnnotation(ListenerMethod where) {
        List<String> annotations = MergedAnnotations.from(where.method(), SearchStrategy.TYPE_HIERARCHY).stream(
                        DelayListener.class)
                .filter(MergedAnnotationPredicates.firstRunOf(MergedAnnotation::getAggregateIndex))
                .map(annotation -> "@" + annotation.getRoot().getType().getSimpleName())
                .toList();
        if (annotations.size() > 1) {
            throw where.problem(
                    "the method has " + String.join(" and ", annotations) + ", and only one of them would be used",
                    "Keep one of them, and put each other one on a method of its own.");
        }
    }

    /** Of two annotations that a method inherits, one would be ignored. One on a method that overrides the other replaces it. */
    static void requireOneOrigin(ListenerMethod where) {
        MergedAnnotation<DelayListener> used = MergedAnnotations.from(where.method(), SearchStrategy.TYPE_HIERARCHY)
                .get(DelayListener.class);
        if (!(used.getSource() instanceof Method source)) {
            return;
        }
        ListenerMethod.overridden(where.targetClass()).forEach((declared, running) -> {
            boolean isIgnored = running.equals(where.method())
                    && !declared.getDeclaringClass().isAssignableFrom(source.getDeclaringClass());
            if (isIgnored && !used.synthesize().equals(ListenerMethod.annotation(declared))) {
                throw where.problem(
                        "it inherits different annotations from "
                                + source.getDeclaringClass().getName() + " and "
                                + declared.getDeclaringClass().getName() + ", and only one of them could take effect",
                        "Override the method in " + where.targetClass().getName()
                                + ", with one @DelayListener, or have a bean for each.");
            }
        });
    }

    /** A cache hit returns without running the method. Spring's annotation on a class is that of all methods that it declares. */
    static void requireUncached(ListenerMethod where) {
        if (isCacheable(where.method())) {
            throw where.problem(
                    "the method is @Cacheable too: a hit would acknowledge the message without running it",
                    "Remove one of the annotations.");
        }
        if (isCacheable(where.method().getDeclaringClass())) {
            throw where.problem(
                    "the class is @Cacheable, and so is the method: a hit would acknowledge the message without running it",
                    "Put @Cacheable on single methods, or move the listener to another class.");
        }
    }

    private static boolean isCacheable(AnnotatedElement element) {
        MergedAnnotations annotations = MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY);
        return annotations.isPresent(Cacheable.class)
                || annotations.stream(Caching.class)
                        .anyMatch(several -> several.getAnnotationArray("cacheable", Cacheable.class).length > 0)
                || OTHER_CACHEABLE.stream().anyMatch(annotations::isPresent);
    }

    /** Spring's messaging validates such a parameter. Here the proxy of the bean does, which only a class with @Validated has. */
    static void requireValidated(ListenerMethod where) {
        if (AnnotatedElementUtils.hasAnnotation(where.targetClass(), Validated.class)) {
            return;
        }
        for (MethodParameter parameter : new AnnotatedMethod(where.method()).getMethodParameters()) {
            MergedAnnotations annotations = MergedAnnotations.from(parameter.getParameterAnnotations());
            for (String validation : VALIDATION) {
                if (annotations.isPresent(validation)) {
                    throw where.problem(
                            "@" + ClassUtils.getShortName(validation)
                                    + " on a parameter has no effect, because the class is not @Validated",
                            "Put Spring's @Validated on the class, or remove the annotation.");
                }
            }
        }
    }

    /** Returning acknowledges, so a method that returns before its work is done would lose messages. */
    static void requireSynchronous(ListenerMethod where) {
        Class<?> type = ResolvableType.forMethodReturnType(where.method(), where.targetClass())
                .toClass();
        if (isAsynchronous(type) || KotlinDetector.isSuspendingFunction(where.method())) {
            throw where.problem(
                    "the method is asynchronous (" + type.getTypeName() + "): it returns before its work is done, and"
                            + " returning acknowledges the message",
                    WAIT + " 'concurrency' sets how many run at a time.");
        }
        if (AnnotatedElementUtils.hasAnnotation(where.method(), Async.class)
                || AnnotatedElementUtils.hasAnnotation(where.targetClass(), Async.class)) {
            throw where.problem(
                    "the method is @Async: it returns before its work is done, and returning acknowledges the message",
                    "Remove @Async. 'concurrency' sets how many run at a time.");
        }
    }

    /**
     * Checks a result whose type was unknown at the start.
     *
     * @throws IllegalStateException if the work of the method may go on, and fail after the acknowledgement
     */
    static void requireDone(ListenerMethod where, @Nullable Object result) {
        if (result != null && isAsynchronous(result.getClass())) {
            throw new IllegalStateException(where.describe() + " is asynchronous: it returned a "
                    + result.getClass().getTypeName() + ", whose work may go on, so the run counts as failed. " + WAIT);
        }
    }

    private static boolean isAsynchronous(Class<?> type) {
        return Future.class.isAssignableFrom(type)
                || CompletionStage.class.isAssignableFrom(type)
                || Flow.Publisher.class.isAssignableFrom(type)
                || ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null
                || hasAsynchronousName(type);
    }

    private static boolean hasAsynchronousName(Class<?> type) {
        return ASYNCHRONOUS.contains(type.getName())
                || Stream.concat(Stream.ofNullable(type.getSuperclass()), Stream.of(type.getInterfaces()))
                        .anyMatch(MethodRules::hasAsynchronousName);
    }
}
