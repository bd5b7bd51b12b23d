package io.easykit.cache.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Optional;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.util.ClassUtils;

/** A method call as the {@code #root} of expressions. The getters are part of the expression language. */
final class Call {

    private static final Object[] NO_ARGUMENTS = {};

    private final @Nullable Object target;
    private final Class<?> targetClass;
    private final Method method;
    private final @Nullable Object[] args;
    private final @Nullable Object result;

    private Call(
            @Nullable Object target,
            Class<?> targetClass,
            Method method,
            @Nullable Object[] args,
            @Nullable Object result) {
        this.target = target;
        this.targetClass = targetClass;
        this.method = method;
        this.args = args;
        this.result = result;
    }

    static Call of(MethodInvocation invocation) {
        Object target = invocation.getThis();
        Class<?> targetClass = target == null
                ? invocation.getMethod().getDeclaringClass()
                : targetClass(target, invocation.getMethod());
        return new Call(target, targetClass, invocation.getMethod(), invocation.getArguments(), null);
    }

    /** Call for an expression over a value alone, without a target and arguments. */
    static Call ofValue(CachedMethod where, Object value) {
        return new Call(null, where.targetClass(), where.method(), NO_ARGUMENTS, null).withResult(value);
    }

    /**
     * The class whose type arguments apply. For a proxy without its own class, such as a repository, it is the
     * interface that the application declares.
     */
    static Class<?> targetClass(Object target, Method method) {
        // Without the subclass that Spring makes for @Lookup methods and of @Configuration classes.
        Class<?> implementation = ClassUtils.getUserClass(AopUtils.getTargetClass(target));
        if (!(target instanceof Proxy)) {
            return implementation;
        }
        boolean implemented = !Proxy.isProxyClass(implementation)
                && method.getDeclaringClass().isAssignableFrom(implementation);
        if (implemented) {
            return implementation;
        }
        for (Class<?> declared : target.getClass().getInterfaces()) {
            if (method.getDeclaringClass().isAssignableFrom(declared)) {
                return declared;
            }
        }
        return implementation;
    }

    /** @param value return value of the method; expressions see the content of an {@code Optional} */
    Call withResult(@Nullable Object value) {
        Object content = value instanceof Optional<?> optional ? optional.orElse(null) : value;
        return new Call(target, targetClass, method, args, content);
    }

    @Nullable Object argument(int index) {
        return args[index];
    }

    /** Returns null before the method has returned. */
    @Nullable Object result() {
        return result;
    }

    public @Nullable Object getTarget() {
        return target;
    }

    /** The implementing class: for a repository that of Spring Data. */
    Class<?> implementationClass() {
        return target == null ? targetClass : AopUtils.getTargetClass(target);
    }

    public Class<?> getTargetClass() {
        return targetClass;
    }

    public Method getMethod() {
        return method;
    }

    public String getMethodName() {
        return method.getName();
    }

    public @Nullable Object[] getArgs() {
        return args;
    }
}
