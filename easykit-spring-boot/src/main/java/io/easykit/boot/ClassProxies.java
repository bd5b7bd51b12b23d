package io.easykit.boot;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;

/** Rules of class proxies: subclasses that Spring generates to intercept the methods of a bean. */
public final class ClassProxies {

    private static final int VISIBLE_ELSEWHERE = Modifier.PUBLIC | Modifier.PROTECTED;

    private ClassProxies() {}

    /**
     * Whether a method is package-private in another package than the proxy, which therefore cannot override it. A call on the
     * proxy then runs without interceptors, and without the bean's fields.
     *
     * @param type the class of the bean, or of its proxy, which is in the same package
     */
    public static boolean cannotOverride(Method method, Class<?> type) {
        Class<?> declaring = method.getDeclaringClass();
        boolean samePackage = declaring.getPackageName().equals(type.getPackageName())
                && declaring.getClassLoader() == type.getClassLoader();
        return (method.getModifiers() & VISIBLE_ELSEWHERE) == 0 && !samePackage;
    }
}
