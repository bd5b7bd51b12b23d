package io.easykit.cache.springcache;

import io.easykit.cache.aop.HeldArguments;
import io.easykit.cache.springcache.OperationEvaluator.Call;
import io.easykit.cache.style.CallStyle.Awaiter;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.core.MethodClassKey;

/** A call of an annotated method that passes Spring's interceptor, any number of times and on any thread. */
record PassedCall(HeldArguments arguments, Call call, AnnotatedMethod method, OperationBypass bypass) {

    /** Calls the method, waits for its result, and returns the value to cache. */
    @Nullable Object content(Awaiter awaiter) throws Throwable {
        return content(arguments.next(), awaiter);
    }

    /** Calls the method by a copy of the invocation. */
    @Nullable Object content(MethodInvocation copy, Awaiter awaiter) throws Throwable {
        return method.contentOf(awaiter.await(proceed(copy)));
    }

    /** Calls the method without any operation. */
    @Nullable Object proceed() throws Throwable {
        return proceed(arguments.original());
    }

    /** As {@link #proceed()}, any number of times. */
    @Nullable Object proceedByCopy() throws Throwable {
        return proceed(arguments.next());
    }

    /** Calls the method without any operation, by a copy of the invocation. Returns what the method returns. */
    @Nullable Object proceed(MethodInvocation next) throws Throwable {
        MethodClassKey before = bypass.enter(call.method(), call.targetClass());
        try {
            return ExposeInvocationInterceptor.INSTANCE.invoke(next);
        } finally {
            bypass.restore(before);
        }
    }
}
