package io.easykit.benchmarks.start;

import io.easykit.benchmarks.start.app.CachedProducts;
import io.easykit.benchmarks.start.app.FirstRead;
import io.easykit.benchmarks.start.app.Orders;
import io.easykit.benchmarks.start.app.SpringCachedProducts;
import java.util.List;
import java.util.stream.Stream;

/** The applications that are started, with the libraries that a build with their starters would have. */
enum StartContender {
    WEB("web application", "spring-boot-starter-webmvc", List.of(), List.of()),
    SPRING(
            "+ Spring's RedisCache",
            "no connection is opened",
            Libraries.SPRING_CACHE,
            List.of(SpringCachedProducts.class)),
    SPRING_READ(
            "+ Spring's RedisCache, one read",
            "opens its connection",
            Libraries.SPRING_CACHE,
            List.of(SpringCachedProducts.class, FirstRead.class)),
    EASY_CACHE("+ easy-cache", "defaults", Libraries.EASY_CACHE, List.of(CachedProducts.class)),
    DELAY_QUEUE("+ delay-queue", "defaults, one listener", Libraries.DELAY_QUEUE, List.of(Orders.class)),
    BOTH("+ both", "as above", Libraries.BOTH, List.of(CachedProducts.class, Orders.class));

    private final String title;
    private final String settings;

    @SuppressWarnings("ImmutableEnumChecker") // lists from List.of
    private final List<String> libraries;

    @SuppressWarnings("ImmutableEnumChecker") // as above
    private final List<Class<?>> beans;

    StartContender(String title, String settings, List<String> libraries, List<Class<?>> beans) {
        this.title = title;
        this.settings = settings;
        this.libraries = libraries;
        this.beans = beans;
    }

    String title() {
        return title;
    }

    String settings() {
        return settings;
    }

    /** Names of the beans of the application. */
    List<String> beans() {
        return beans.stream().map(Class::getName).toList();
    }

    boolean isOurs() {
        return this == EASY_CACHE || this == DELAY_QUEUE || this == BOTH;
    }

    /** Whether a jar belongs to the class path of the application. */
    boolean needs(String jar) {
        return Stream.concat(Libraries.WEB.stream(), libraries.stream()).anyMatch(name -> isNamed(jar, name));
    }

    /** Whether it is a version of this library: {@code spring-core} is not in {@code spring-core-test-7.0.jar}. */
    private static boolean isNamed(String jar, String library) {
        return jar.startsWith(library + "-") && Character.isDigit(jar.charAt(library.length() + 1));
    }
}
