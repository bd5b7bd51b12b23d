package io.easykit.cache.aop;

import io.easykit.boot.Explained;
import io.easykit.boot.Problem;
import io.easykit.cache.EasyCacheException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An invalid annotation. The message names the method, the mistake, and the remedy. */
public final class InvalidCacheDeclarationException extends EasyCacheException implements Explained {

    private static final long serialVersionUID = 1L;

    private final Class<?> beanType;
    private final transient Method method;
    private final transient List<Problem> problems;

    InvalidCacheDeclarationException(CachedMethod where, String problem, String remedy, @Nullable Throwable cause) {
        this(where, new Problem(where.describe() + ": " + problem + ".", remedy), cause);
    }

    private InvalidCacheDeclarationException(CachedMethod where, Problem problem, @Nullable Throwable cause) {
        super(problem.description() + " " + problem.remedy(), cause);
        this.beanType = where.targetClass();
        this.method = where.method();
        this.problems = List.of(problem);
    }

    private InvalidCacheDeclarationException(List<InvalidCacheDeclarationException> all, List<Problem> problems) {
        super(
                String.join("; ", all.stream().map(Throwable::getMessage).toList()),
                all.get(0).getCause());
        this.beanType = all.get(0).beanType;
        this.method = all.get(0).method;
        this.problems = List.copyOf(problems);
    }

    /** Combines all of them in one exception. */
    static InvalidCacheDeclarationException of(List<InvalidCacheDeclarationException> all) {
        if (all.size() == 1) {
            return all.get(0);
        }
        List<Problem> problems = new ArrayList<>();
        all.forEach(one -> problems.addAll(one.problems));
        return new InvalidCacheDeclarationException(all, problems);
    }

    /** Returns the class of the first problem. */
    public Class<?> beanType() {
        return beanType;
    }

    /** Returns the method of the first problem. */
    public Method method() {
        return method;
    }

    @Override
    public List<Problem> problems() {
        return problems;
    }
}
