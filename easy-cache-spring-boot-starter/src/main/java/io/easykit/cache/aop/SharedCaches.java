package io.easykit.cache.aop;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds beans that share the entries of one annotation: several beans of a class or of a proxied interface, or of classes and
 * interfaces that inherit it. This is right for a decorator and wrong for two clients of different regions, so it is a warning. A
 * client and a class of its interface are not two of a kind: the class may be its fallback, or a fragment of a repository.
 */
final class SharedCaches {

    private static final Logger log = LoggerFactory.getLogger(SharedCaches.class);

    /** A part of a key over the call, and not over its arguments alone. */
    private static final Pattern OF_BEAN = Pattern.compile("#root\\b(?!\\.args\\b)");

    private final Map<Annotated, Set<String>> beans = new ConcurrentHashMap<>();

    void add(String beanName, CachedMethod where, ReadOperation operation) {
        boolean dependsOnBean = operation.key().texts().stream()
                .anyMatch(text -> OF_BEAN.matcher(text).find());
        if (!dependsOnBean) {
            beans.computeIfAbsent(
                            new Annotated(
                                    where.declaring(),
                                    operation.spec().prefix(),
                                    where.targetClass().isInterface()),
                            any -> ConcurrentHashMap.newKeySet())
                    .add(beanName);
        }
    }

    /** Logs one line for each annotation. */
    void warn() {
        beans.forEach((annotated, names) -> {
            if (names.size() > 1) {
                log.warn(
                        "easy-cache: the beans {} share the entries of '{}', because all of them have the"
                                + " @Cacheable of {}.{}. If their values differ, one gets those of another. Use"
                                + " {class} in the prefix if their classes differ, or add a distinguishing part"
                                + " to the key, such as #root.target.region. Clients of one interface have neither: give"
                                + " each an interface that extends it, and use {class}.",
                        new TreeSet<>(names),
                        annotated.prefix,
                        annotated.method.getDeclaringClass().getSimpleName(),
                        annotated.method.getName());
            }
        });
        beans.clear();
    }

    /** @param ofClients whether its beans are known by an interface, as clients and repositories are */
    private record Annotated(Method method, String prefix, boolean ofClients) {}
}
