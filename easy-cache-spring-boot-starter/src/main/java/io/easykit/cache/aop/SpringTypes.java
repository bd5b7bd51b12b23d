package io.easykit.cache.aop;

/** Types of Spring itself, which have no annotations of a cache. */
public final class SpringTypes {

    private SpringTypes() {}

    /** Whether a type is one of them, and not one of an application that is in Spring's package, such as its samples. */
    public static boolean contain(Class<?> type) {
        return type.getName().startsWith("org.springframework.")
                && !type.getName().startsWith("org.springframework.samples.");
    }
}
