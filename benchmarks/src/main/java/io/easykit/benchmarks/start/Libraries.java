package io.easykit.benchmarks.start;

import java.util.List;
import java.util.stream.Stream;

/**
 * The libraries that each starter brings, by their names without versions. The library folder of this module has them all, and
 * those of the other benchmarks.
 */
final class Libraries {

    /** {@code spring-boot-starter-webmvc}. */
    static final List<String> WEB = List.of(
            "spring-boot",
            "spring-boot-autoconfigure",
            "spring-boot-http-converter",
            "spring-boot-jackson",
            "spring-boot-servlet",
            "spring-boot-tomcat",
            "spring-boot-web-server",
            "spring-boot-webmvc",
            "spring-aop",
            "spring-beans",
            "spring-context",
            "spring-core",
            "spring-expression",
            "spring-web",
            "spring-webmvc",
            "micrometer-commons",
            "micrometer-observation",
            "jackson-annotations",
            "jackson-core",
            "jackson-databind",
            "tomcat-embed-core",
            "tomcat-embed-el",
            "tomcat-embed-websocket",
            "jakarta.annotation-api",
            "logback-classic",
            "logback-core",
            "log4j-api",
            "log4j-to-slf4j",
            "jul-to-slf4j",
            "slf4j-api",
            "snakeyaml",
            "commons-logging",
            "jspecify");

    /** {@code spring-boot-starter-data-redis}. */
    private static final List<String> REDIS = List.of(
            "spring-boot-data-commons",
            "spring-boot-data-redis",
            "spring-boot-netty",
            "spring-boot-persistence",
            "spring-boot-transaction",
            "spring-context-support",
            "spring-data-commons",
            "spring-data-keyvalue",
            "spring-data-redis",
            "spring-oxm",
            "spring-tx",
            "lettuce-core",
            "redis-authx-core",
            "netty-buffer",
            "netty-codec",
            "netty-codec-base",
            "netty-codec-dns",
            "netty-common",
            "netty-handler",
            "netty-resolver",
            "netty-resolver-dns",
            "netty-transport",
            "netty-transport-native-unix-common",
            "reactive-streams",
            "reactor-core");

    /** That, and {@code spring-boot-starter-cache}. */
    static final List<String> SPRING_CACHE = all(REDIS, List.of("spring-boot-cache"));

    private static final List<String> EASYKIT = List.of("easykit-redis", "easykit-spring-boot");

    static final List<String> EASY_CACHE = all(
            all(REDIS, EASYKIT),
            List.of("easy-cache-core", "easy-cache-spring-boot-starter", "caffeine", "error_prone_annotations"));

    static final List<String> DELAY_QUEUE = all(
            all(REDIS, EASYKIT), List.of("delay-queue-core", "delay-queue-spring-boot-starter", "spring-messaging"));

    static final List<String> BOTH = all(EASY_CACHE, DELAY_QUEUE);

    private Libraries() {}

    private static List<String> all(List<String> some, List<String> more) {
        return Stream.concat(some.stream(), more.stream()).distinct().toList();
    }
}
