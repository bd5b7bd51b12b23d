package io.easykit.console.autoconfigure;

import io.easykit.boot.ConditionalOnEnabled;
import io.easykit.boot.SettingsReport;
import io.easykit.boot.ShownValues;
import io.easykit.boot.StartReport;
import io.easykit.boot.ThisProcess;
import io.easykit.cache.admin.EasyCacheAdmin;
import io.easykit.console.Audit;
import io.easykit.console.AuditStore;
import io.easykit.console.Console;
import io.easykit.console.ConsoleAccess;
import io.easykit.console.ConsoleAccess.Mode;
import io.easykit.console.ConsoleApi;
import io.easykit.console.ConsoleInfo;
import io.easykit.console.ConsoleMeters;
import io.easykit.console.cache.CacheApi;
import io.easykit.console.queue.FleetApi;
import io.easykit.console.queue.JobApi;
import io.easykit.console.queue.LocalListeners;
import io.easykit.console.queue.QueueApi;
import io.easykit.console.queue.QueueAuditStore;
import io.easykit.console.queue.ShownMessages;
import io.easykit.delayqueue.PayloadCodec;
import io.easykit.delayqueue.admin.ActionLog;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.FleetAdmin;
import io.easykit.delayqueue.autoconfigure.DelayQueueCustomizer;
import io.easykit.delayqueue.autoconfigure.RedisStartupCheck;
import io.easykit.delayqueue.engine.ListenerContainer;
import io.easykit.delayqueue.listener.DelayListenerRegistry;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.context.annotation.Role;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;

/** Auto-configuration of the console. It is served by the configurations of the management context. */
@AutoConfiguration(
        afterName = {
            "io.easykit.delayqueue.autoconfigure.DelayQueueAutoConfiguration",
            "io.easykit.delayqueue.autoconfigure.DisabledDelayQueueAutoConfiguration",
            "io.easykit.cache.autoconfigure.EasyCacheAutoConfiguration",
            "io.easykit.cache.autoconfigure.EasyCacheAdminAutoConfiguration"
        })
@ConditionalOnWebApplication
@ConditionalOnEnabled("easykit.console")
@EnableConfigurationProperties(ConsoleProperties.class)
@Import(StartReport.class)
@ImportRuntimeHints(ConsoleAutoConfiguration.Files.class)
public final class ConsoleAutoConfiguration {

    ConsoleAutoConfiguration() {}

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static ConsoleStartCheck easykitConsoleStartCheck(Environment environment) {
        return new ConsoleStartCheck(environment);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static SettingsReport easykitConsoleSettingsReport() {
        return new SettingsReport("easykit.console");
    }

    /** In front of other keepers of the audit, so that it also keeps the changes through the endpoints of this node. */
    @Bean
    @Order(0)
    Audit easykitConsoleAudit(
            ConsoleProperties properties, ObjectProvider<AuditStore> stores, ApplicationEventPublisher publisher) {
        return new Audit(
                ThisProcess.name(),
                stores.orderedStream().findFirst().orElse(null),
                properties.auditSize(),
                System::currentTimeMillis,
                publisher);
    }

    @Bean
    ServedConsole easykitConsole(
            ConsoleProperties properties,
            Audit audit,
            ObjectProvider<ConsoleApi> apis,
            ObjectProvider<ConsoleMeters> meters,
            ListableBeanFactory beans) {
        if (!properties.enabled()) {
            // The condition above was true at the build of an application that was processed ahead of time.
            return ServedConsole.disabled(properties.path());
        }
        boolean secured = ConsoleSecurity.isPresent(beans);
        Mode mode = secured
                ? Mode.ROLES
                : switch (properties.openTo()) {
                    case NOBODY -> null;
                    case LOOPBACK -> Mode.LOOPBACK;
                    case EVERYONE -> Mode.EVERYONE;
                };
        if (mode == null) {
            return new ServedConsole(
                    null,
                    properties.path(),
                    "The application has no Spring Security, and easykit.console.open-to is nobody. Add Spring Security"
                            + " and give your users the role "
                            + properties.roles().view() + " or "
                            + properties.roles().operate()
                            + ". On your own machine, set easykit.console.open-to=loopback.",
                    false);
        }
        ConsoleAccess access = new ConsoleAccess(
                mode,
                properties.roles().view(),
                properties.roles().operate(),
                properties.access() == ConsoleProperties.Access.READ_ONLY,
                properties.showValues(),
                properties.origins());
        Console console = new Console(
                access,
                info(properties),
                apis.orderedStream().toList(),
                audit,
                meters.getIfAvailable(() -> ConsoleMeters.NONE));
        return new ServedConsole(console, properties.path(), users(mode, properties), mode == Mode.EVERYONE);
    }

    private static String users(Mode mode, ConsoleProperties properties) {
        return switch (mode) {
            case ROLES ->
                "users with the role " + properties.roles().view() + " or "
                        + properties.roles().operate();
            case LOOPBACK -> "requests from this machine, without a login";
            case EVERYONE -> "everyone, without a login. Add Spring Security, or set easykit.console.open-to=loopback";
        };
    }

    @Bean
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    ConsoleStartLine easykitConsoleServletStartLine(ServedConsole easykitConsole) {
        return new ConsoleStartLine(easykitConsole, "server.servlet.context-path", "spring.mvc.servlet.path");
    }

    @Bean
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
    ConsoleStartLine easykitConsoleReactiveStartLine(ServedConsole easykitConsole) {
        return new ConsoleStartLine(easykitConsole, "spring.webflux.base-path");
    }

    private static ConsoleInfo info(ConsoleProperties properties) {
        Map<String, String> versions = new LinkedHashMap<>();
        String own = Console.class.getPackage().getImplementationVersion();
        if (own != null) {
            versions.put("easykit", own);
        }
        versions.put("Spring Boot", SpringBootVersion.getVersion());
        versions.put("Java", System.getProperty("java.version", ""));
        ConsoleProperties.Color color = properties.color();
        List<ConsoleInfo.Link> links = properties.links().stream()
                .map(link -> new ConsoleInfo.Link(link.label(), link.href()))
                .toList();
        return new ConsoleInfo(
                properties.path(),
                ThisProcess.name(),
                versions,
                properties.label(),
                color == null ? null : color.css(),
                links);
    }

    /** The files of the page and of its language, for native images. */
    static final class Files implements RuntimeHintsRegistrar {

        @Override
        public void registerHints(RuntimeHints hints, @Nullable ClassLoader loader) {
            hints.resources()
                    .registerPattern("io/easykit/console/assets/*")
                    .registerPattern("io/easykit/console/zh-CN.txt");
        }
    }

    /** Meters, if the application has Micrometer. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterRegistry.class)
    static class MetersConfiguration {

        @Bean
        @ConditionalOnMissingBean
        ConsoleMeters easykitConsoleMeters(ObjectProvider<MeterRegistry> registry) {
            return new MicrometerMeters(registry);
        }
    }

    /**
     * The delay queue, if the application has it. A disabled one, or a mock in a test, has nothing to show.
     */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(DelayQueueAdmin.class)
    @ConditionalOnEnabled("delay-queue")
    @ConditionalOnBean({DelayQueueAdmin.class, FleetAdmin.class})
    static class QueueConfiguration {

        @Bean
        @ConditionalOnBean(ActionLog.class)
        @Nullable AuditStore easykitConsoleQueueAudit(ObjectProvider<ActionLog> actions) {
            ActionLog kept = actions.getIfAvailable();
            return kept == null ? null : new QueueAuditStore(kept);
        }

        /** A customizer may replace the codec of the queue, so none is used then. */
        @Bean
        LocalListeners easykitConsoleListeners(
                ObjectProvider<DelayListenerRegistry> registry,
                ObjectProvider<PayloadCodec> codec,
                ObjectProvider<DelayQueueCustomizer> customizers,
                Environment environment) {
            boolean customized = customizers.stream().findAny().isPresent();
            return new LocalListeners(
                    () -> registry.stream()
                            .flatMap(listeners -> listeners.containers().stream())
                            .map(ListenerContainer::endpoint)
                            .toList(),
                    customized ? null : codec.getIfUnique(),
                    new TopicSettingSource(
                            environment, id -> registry.stream().anyMatch(listeners -> listeners.isAnnotated(id))));
        }

        @Bean
        @Nullable ConsoleApi easykitConsoleQueue(
                ObjectProvider<DelayQueueAdmin> admins,
                ObjectProvider<FleetAdmin> fleets,
                LocalListeners listeners,
                ObjectProvider<RedisStartupCheck> check,
                ObjectProvider<SanitizingFunction> masking,
                Audit audit,
                ConsoleProperties properties) {
            DelayQueueAdmin admin = admins.getIfAvailable();
            FleetAdmin fleet = fleets.getIfAvailable();
            if (admin == null || fleet == null) {
                return null;
            }
            ShownValues values = ShownValues.maskedBy(masking.orderedStream().toList());
            ShownMessages views = new ShownMessages(values, listeners, properties.edit());
            Optional<RedisStartupCheck> redis = check.stream().findFirst();
            return new QueueApi(admin, fleet, views, listeners, audit, () -> redis.flatMap(RedisStartupCheck::report));
        }

        @Bean
        @Nullable ConsoleApi easykitConsoleJobs(
                ObjectProvider<DelayQueueAdmin> admins,
                ObjectProvider<FleetAdmin> fleets,
                ObjectProvider<ConsoleMeters> meters) {
            DelayQueueAdmin admin = admins.getIfAvailable();
            FleetAdmin fleet = fleets.getIfAvailable();
            return admin == null || fleet == null
                    ? null
                    : new JobApi(admin, fleet, meters.getIfAvailable(() -> ConsoleMeters.NONE));
        }

        @Bean
        @Nullable ConsoleApi easykitConsoleFleet(ObjectProvider<FleetAdmin> fleets) {
            FleetAdmin fleet = fleets.getIfAvailable();
            return fleet == null ? null : new FleetApi(fleet);
        }
    }

    /** The cache, if the application has it, and no test has replaced it by a mock. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(EasyCacheAdmin.class)
    @ConditionalOnBean(EasyCacheAdmin.class)
    static class CacheConfiguration {

        @Bean
        @Nullable ConsoleApi easykitConsoleCache(ObjectProvider<EasyCacheAdmin> admins) {
            EasyCacheAdmin admin = admins.getIfAvailable();
            return admin == null ? null : new CacheApi(admin, ThisProcess.name());
        }
    }
}
