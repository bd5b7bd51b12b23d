package io.easykit.cache.autoconfigure;

import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;

/** Hints for native images: scripts, tables, and classes that the cache looks for or reads by reflection. */
final class EasyCacheHints implements RuntimeHintsRegistrar {

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader loader) {
        hints.resources().registerPattern("io/easykit/cache/redis/*.lua");
        hints.resources().registerPattern("io/easykit/cache/jdbc/*.sql");
        Stream.of(
                        "org.springframework.jdbc.datasource.ConnectionHolder",
                        "org.springframework.orm.jpa.EntityManagerHolder",
                        "org.hibernate.engine.spi.SharedSessionContractImplementor",
                        "org.springframework.transaction.reactive.TransactionContext",
                        "io.micrometer.context.ContextSnapshot")
                .forEach(name -> hints.reflection().registerTypeIfPresent(loader, name, hint -> {}));
        // The parameters of a key of Spring's have no accessor.
        hints.reflection()
                .registerType(
                        TypeReference.of("org.springframework.cache.interceptor.SimpleKey"),
                        hint -> hint.withField("params"));
    }
}
