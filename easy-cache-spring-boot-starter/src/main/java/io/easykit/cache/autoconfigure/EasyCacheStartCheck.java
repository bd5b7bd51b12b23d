package io.easykit.cache.autoconfigure;

import io.easykit.boot.AheadOfTime;
import io.easykit.boot.BeanChoice;
import io.easykit.boot.BoundSettings;
import io.easykit.boot.Problem;
import io.easykit.boot.RedisFactoryCheck;
import io.easykit.boot.SettingsReport;
import io.easykit.boot.StartCheck;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.ValueCodec;
import io.easykit.cache.aop.CacheSettingsTable;
import io.easykit.cache.aop.CachedMethodProcessor;
import io.easykit.cache.aop.CachedMethods;
import io.easykit.cache.aop.InvalidCacheDeclarationException;
import io.easykit.cache.aop.Staleness;
import io.easykit.cache.autoconfigure.EasyCacheProperties.OutboxType;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.springcache.SpringCacheMethods;
import io.easykit.cache.store.Outbox;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/** Checks the settings of the cache and the annotated methods. */
final class EasyCacheStartCheck implements StartCheck {

    private final Environment environment;
    private final Supplier<CachedMethodProcessor> processor;
    private final ObjectProvider<SpringCacheMethods> springs;

    /** @param springs methods with Spring's cache annotations, if they are ours */
    EasyCacheStartCheck(
            Environment environment,
            Supplier<CachedMethodProcessor> processor,
            ObjectProvider<SpringCacheMethods> springs) {
        this.environment = environment;
        this.processor = processor;
        this.springs = springs;
    }

    @Override
    public List<Problem> settings(ConfigurableListableBeanFactory beans) {
        BoundSettings<EasyCacheProperties> settings = bind();
        List<Problem> problems = new ArrayList<>(settings.problems());
        problems.addAll(SslBundleCheck.problems(settings.value().clusters(), environment, beans));
        if (beans.containsBeanDefinition("easyCacheConnections")) {
            problems.addAll(RedisFactoryCheck.problems(beans));
            if (settings.value().outbox() == OutboxType.JDBC
                    && BeanChoice.of(beans, Outbox.class).names().isEmpty()) {
                problems.add(AheadOfTime.explain(EasyCacheProperties.noOutbox(), "easy-cache.outbox=jdbc"));
            }
        }
        problems.addAll(BeanChoice.several(beans, ValueCodec.class));
        return problems;
    }

    @Override
    public List<Problem> declaredTypes(ConfigurableListableBeanFactory beans) {
        EasyCacheProperties settings = bind().value();
        CachedMethods methods = methods(environment, beans, settings, settings.usableTable());
        boolean ownCodec = BeanChoice.of(beans, ValueCodec.class).names().equals(List.of("easyCacheValueCodec"));
        ValueCodec codec = new JacksonValueCodec();
        return problems(CachedMethodProcessor.ofTypes(
                beans, methods, clusterIds(settings), ownCodec ? codec::problemWith : type -> null));
    }

    @Override
    public List<Problem> declarations() {
        List<Problem> problems = new ArrayList<>();
        processor.get().declareSpecs();
        springs.ifAvailable(methods -> problems.addAll(problems(methods.complete())));
        problems.addAll(problems(processor.get().complete()));
        return problems;
    }

    @Override
    public void passed() {
        processor.get().report();
        SpringCacheMethods ours = springs.getIfAvailable();
        if (ours == null) {
            processor.get().warnOfSpringsAnnotations();
        } else {
            ours.report();
        }
    }

    static CachedMethods methods(
            Environment environment,
            ConfigurableListableBeanFactory beans,
            EasyCacheProperties settings,
            CacheSettingsTable table) {
        return new CachedMethods(
                environment,
                beans,
                table,
                new Staleness(settings.degradedOptions(), settings.outbox() == OutboxType.JDBC));
    }

    private BoundSettings<EasyCacheProperties> bind() {
        return new SettingsReport("easy-cache").bind(EasyCacheProperties.class, environment);
    }

    /** Includes clusters with invalid settings. */
    private Set<String> clusterIds(EasyCacheProperties settings) {
        Set<String> ids = new TreeSet<>(settings.clusters().keySet());
        ids.add(CacheSpec.DEFAULT_CLUSTER);
        try {
            Binder.get(environment)
                    .bind("easy-cache.clusters", Bindable.mapOf(String.class, Object.class))
                    .map(Map::keySet)
                    .ifBound(ids::addAll);
        } catch (BindException unreadable) {
            // Reported as a setting.
        }
        return ids;
    }

    private static List<Problem> problems(List<InvalidCacheDeclarationException> declarations) {
        return declarations.stream().flatMap(one -> one.problems().stream()).toList();
    }
}
