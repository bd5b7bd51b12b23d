package io.easykit.redis;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Set;
import java.util.TreeSet;
import org.springframework.util.ReflectionUtils;

/** Finds the methods of Spring Data that a subclass of its connection factory overrides. A copy of the factory does not have them. */
final class LostMethods {

    /** Methods that start and stop the factory itself. The copy is made afterwards, from the configuration that they have set. */
    private static final Set<String> HARMLESS =
            Set.of("afterPropertiesSet", "start", "isRunning", "isAutoStartup", "getPhase", "stop", "destroy");

    private LostMethods() {}

    /**
     * Returns the names of the methods. A subclass that overrides none, for example because it only sets its configuration, loses
     * nothing.
     *
     * @param original an object of a subclass of {@code copied}
     * @param copied class of Spring Data
     */
    static Set<String> of(Object original, Class<?> copied) {
        Set<String> names = new TreeSet<>();
        for (Class<?> type = original.getClass(); type != copied; type = type.getSuperclass()) {
            for (Method method : type.getDeclaredMethods()) {
                if (!HARMLESS.contains(method.getName()) && isOverride(method, copied)) {
                    names.add(method.getName());
                }
            }
        }
        return names;
    }

    private static boolean isOverride(Method method, Class<?> copied) {
        Method overridden = ReflectionUtils.findMethod(copied, method.getName(), method.getParameterTypes());
        return overridden != null && !Modifier.isPrivate(overridden.getModifiers());
    }
}
