package io.easykit.cache.springcache;

import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.aop.SpringDeclarations;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.Collection;
import org.jspecify.annotations.Nullable;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.CachePut;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.interceptor.CacheEvictOperation;
import org.springframework.cache.interceptor.CacheOperation;
import org.springframework.cache.interceptor.CacheableOperation;

/** Rules for one method with Spring's cache annotations. */
record OperationRules(SpringDeclarations declarations, Method method, Class<?> targetClass) {

    void requireOneKind(Collection<CacheOperation> operations) {
        if (AnnotatedMethod.isMixed(operations)) {
            throw declarations.problem(
                    Cacheable.class,
                    method,
                    targetClass,
                    "@CachePut or @CacheEvict is on the same method, so a hit would skip the update or its result",
                    "Put them on a method of their own, called from another bean.");
        }
    }

    void requireOneValue(Collection<CacheOperation> operations) {
        declarations.requireOneValue(annotationOf(operations.iterator().next()), method, targetClass);
    }

    void requireClearNames(CacheOperation operation) {
        requireClearNames(operation, "key", operation.getKey());
        requireClearNames(operation, "condition", operation.getCondition());
        if (operation instanceof CacheableOperation read) {
            requireClearNames(operation, "unless", read.getUnless());
        }
    }

    private void requireClearNames(CacheOperation operation, String attribute, @Nullable String expression) {
        if (expression != null) {
            declarations.requireUnambiguous(annotationOf(operation), method, targetClass, attribute, expression);
        }
    }

    private static Class<? extends Annotation> annotationOf(CacheOperation operation) {
        if (operation instanceof CacheableOperation) {
            return Cacheable.class;
        }
        return operation instanceof CacheEvictOperation ? CacheEvict.class : CachePut.class;
    }

    void requireDeclared(CacheOperation operation, String name) {
        if (!declarations.isDeclared(name) && !declarations.isExternal(name)) {
            throw declarations.problem(
                    annotationOf(operation),
                    method,
                    targetClass,
                    "no @Cacheable has the cache name '" + name + "', so nothing would be invalidated; known are "
                            + declarations.names(),
                    "Correct the name. If another application caches it, add it to easy-cache.external-prefixes. If code"
                            + " reads it, define a CacheSpec bean with this prefix.");
        }
    }

    void requireTimelyKey(CacheOperation operation) {
        if (operation instanceof CacheEvictOperation evict
                && evict.isBeforeInvocation()
                && (AnnotatedMethod.hasLateKey(operation, method)
                        || AnnotatedMethod.hasLateCondition(operation, method))) {
            throw declarations.problem(
                    CacheEvict.class,
                    method,
                    targetClass,
                    "beforeInvocation = true needs key and condition before the method, but they use #result",
                    "Remove beforeInvocation: the entry is invalidated whether the method returns or throws. Or use"
                            + " parameters in key and condition.");
        }
    }

    /** A condition over the result is no problem: the entry is prepared in any case. */
    void requirePreparable(CacheOperation operation, String name) {
        CacheSpec<?> spec = declarations.specOf(name);
        if (!AnnotatedMethod.hasLateKey(operation, method)) {
            return;
        }
        if (spec.options().consistency() == Consistency.CP) {
            throw declarations.problem(
                    annotationOf(operation),
                    method,
                    targetClass,
                    "the key uses #result, but the cache '" + name
                            + "' is CP, whose entries must be prepared before the commit",
                    "Use parameters in the key, or set easy-cache.caches." + name + ".consistency to ap.");
        }
        declarations.refuseLateKeyIfSerial(annotationOf(operation), method, targetClass, spec);
    }
}
