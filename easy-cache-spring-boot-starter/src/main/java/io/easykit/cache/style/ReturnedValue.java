package io.easykit.cache.style;

import java.lang.reflect.Method;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;

/**
 * How a method returns the value to cache: as it is, or as the content of another object.
 *
 * @param method the return type of the method, with the type arguments of the bean's class
 * @param type of the value
 * @param isOptional whether an {@link Optional} contains it
 * @param isFuture whether a {@link CompletionStage} contains it
 * @param publisher adapter of the publisher that contains it; null if there is none
 * @param isUnsupported whether it arrives later, in a way that is not supported: many values, or an object that cannot be
 *     created from a future or publisher
 */
public record ReturnedValue(
        ResolvableType method,
        ResolvableType type,
        boolean isOptional,
        boolean isFuture,
        @Nullable ReactiveAdapter publisher,
        boolean isUnsupported) {

    public static ReturnedValue of(Method method, Class<?> targetClass) {
        ResolvableType returned =
                ResolvableType.forMethodReturnType(AopUtils.getMostSpecificMethod(method, targetClass), targetClass);
        Class<?> raw = returned.resolve(Object.class);
        if (KotlinDetector.isSuspendingFunction(method)) {
            return unsupported(returned);
        }
        if (raw == CompletableFuture.class || raw == CompletionStage.class) {
            return new ReturnedValue(returned, returned.getGeneric(0), false, true, null, false);
        }
        ReactiveAdapter publisher = ReactiveAdapterRegistry.getSharedInstance().getAdapter(raw);
        if (publisher != null && publisher.getReactiveType() == raw && !publisher.isMultiValue()) {
            ResolvableType content =
                    publisher.isNoValue() ? ResolvableType.forClass(Void.class) : returned.getGeneric(0);
            return new ReturnedValue(returned, content, false, false, publisher, false);
        }
        if (publisher != null || Future.class.isAssignableFrom(raw) || CompletionStage.class.isAssignableFrom(raw)) {
            return unsupported(returned);
        }
        boolean optional = raw == Optional.class;
        return new ReturnedValue(returned, optional ? returned.getGeneric(0) : returned, optional, false, null, false);
    }

    private static ReturnedValue unsupported(ResolvableType returned) {
        return new ReturnedValue(returned, returned, false, false, null, true);
    }

    /** Whether the value arrives by a future or a publisher. */
    public boolean isLater() {
        return isFuture || publisher != null;
    }

    /** The type of the result when it is there: the content of a future or publisher. An {@link Optional} is part of it. */
    public ResolvableType arrived() {
        return isLater() ? type : method;
    }

    /** The class that the method returns. */
    public Class<?> rawMethod() {
        return method.resolve(Object.class);
    }
}
