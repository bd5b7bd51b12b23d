package io.easykit.cache.autoconfigure;

import io.easykit.cache.CacheOptions;
import io.easykit.cache.Consistency;
import io.easykit.cache.admin.CacheDeclaration;
import io.easykit.cache.admin.CacheDeclaration.Setting;
import io.easykit.cache.aop.CachedMethods;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.core.env.Environment;

/** The caches that the application declares, with the settings of the local level, which all AP caches share. */
final class DeclaredCaches implements Supplier<List<CacheDeclaration>> {

    private final ObjectProvider<CachedMethods> methods;
    private final ObjectProvider<EasyCacheProperties> settings;
    private final Environment environment;

    DeclaredCaches(
            ObjectProvider<CachedMethods> methods,
            ObjectProvider<EasyCacheProperties> settings,
            Environment environment) {
        this.methods = methods;
        this.settings = settings;
        this.environment = environment;
    }

    @Override
    public List<CacheDeclaration> get() {
        CachedMethods known = methods.getIfAvailable();
        EasyCacheProperties properties = settings.getIfAvailable();
        if (known == null || properties == null) {
            return List.of();
        }
        List<Setting> local = List.of(
                local("maximum-size", Long.toString(properties.local().maximumSize())),
                local("ttl", CacheOptions.text(properties.local().ttl())));
        return known.declared().stream().map(one -> with(local, one)).toList();
    }

    private static CacheDeclaration with(List<Setting> local, CacheDeclaration declared) {
        if (declared.spec().options().consistency() == Consistency.CP) {
            return declared;
        }
        List<Setting> all = new ArrayList<>(declared.settings());
        all.addAll(local);
        return new CacheDeclaration(declared.source(), declared.spec(), declared.keyParts(), all, declared.staleness());
    }

    private Setting local(String name, String value) {
        String property = "easy-cache.local." + name;
        return new Setting("local." + name, value, environment.containsProperty(property) ? property : "default");
    }
}
