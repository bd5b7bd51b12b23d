package io.easykit.cache.aop;

import io.easykit.cache.EasyCacheException;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/** An annotation that cannot work where it stands. Says which method, what is wrong, and what to do about it. */
public final class InvalidCacheDeclarationException extends EasyCacheException {

    private static final long serialVersionUID = 1L;

    private final Class<?> beanType;
    private final transient Method method;
    private final String problem;
    private final String remedy;

    InvalidCacheDeclarationException(CachedMethod where, String problem, String remedy, @Nullable Throwable cause) {
        super(where.describe() + ": " + problem + ". " + remedy, cause);
        this.beanType = where.targetClass();
        this.method = where.method();
        this.problem = where.describe() + ": " + problem + ".";
        this.remedy = remedy;
    }

    public Class<?> beanType() {
        return beanType;
    }

    public Method method() {
        return method;
    }

    /** The method and what is wrong with it. */
    public String problem() {
        return problem;
    }

    public String remedy() {
        return remedy;
    }
}
