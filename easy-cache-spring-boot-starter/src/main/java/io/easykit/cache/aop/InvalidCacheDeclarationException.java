package io.easykit.cache.aop;

import io.easykit.cache.EasyCacheException;
import java.lang.reflect.Method;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** An annotation that cannot work where it stands. Says which method, what is wrong, and what to do about it. */
public final class InvalidCacheDeclarationException extends EasyCacheException {

    private static final long serialVersionUID = 1L;

    private final Class<?> beanType;
    private final transient Method method;
    private final String problem;
    private final String remedy;
    private final transient List<InvalidCacheDeclarationException> others;

    InvalidCacheDeclarationException(CachedMethod where, String problem, String remedy, @Nullable Throwable cause) {
        super(where.describe() + ": " + problem + ". " + remedy, cause);
        this.others = List.of();
        this.beanType = where.targetClass();
        this.method = where.method();
        this.problem = where.describe() + ": " + problem + ".";
        this.remedy = remedy;
    }

    private InvalidCacheDeclarationException(
            InvalidCacheDeclarationException first, List<InvalidCacheDeclarationException> others) {
        super(
                first.getMessage()
                        + others.stream().map(Throwable::getMessage).collect(Collectors.joining("; ", "; ", "")),
                first.getCause());
        this.beanType = first.beanType;
        this.method = first.method;
        this.problem = first.problem;
        this.remedy = first.remedy;
        this.others = List.copyOf(others);
    }

    /** One exception for all of them. */
    static InvalidCacheDeclarationException of(List<InvalidCacheDeclarationException> all) {
        InvalidCacheDeclarationException first = all.get(0);
        return all.size() == 1 ? first : new InvalidCacheDeclarationException(first, all.subList(1, all.size()));
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

    /** Other annotations of the same start that cannot work. */
    public List<InvalidCacheDeclarationException> others() {
        return others;
    }
}
