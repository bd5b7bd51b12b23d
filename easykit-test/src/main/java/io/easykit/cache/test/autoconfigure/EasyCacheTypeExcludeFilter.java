package io.easykit.cache.test.autoconfigure;

import io.easykit.boot.AnnotatedTypes;
import io.easykit.cache.CacheListener;
import io.easykit.cache.ValueCodec;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.cache.annotation.UpdateCaches;
import io.easykit.cache.autoconfigure.EasyCacheCustomizer;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.springframework.boot.test.context.filter.annotation.StandardAnnotationCustomizableTypeExcludeFilter;
import org.springframework.core.type.classreading.MetadataReader;
import org.springframework.core.type.classreading.MetadataReaderFactory;

/** Leaves out components that do not belong to the cache. */
final class EasyCacheTypeExcludeFilter extends StandardAnnotationCustomizableTypeExcludeFilter<EasyCacheTest> {

    private static final Set<Class<?>> INCLUDED =
            Set.of(CacheListener.class, ValueCodec.class, EasyCacheCustomizer.class);

    private static final AnnotatedTypes CACHED =
            new AnnotatedTypes(List.of(Cacheable.class, UpdateCache.class, UpdateCaches.class));

    EasyCacheTypeExcludeFilter(Class<?> testClass) {
        super(testClass);
    }

    @Override
    protected boolean defaultInclude(MetadataReader reader, MetadataReaderFactory factory) throws IOException {
        return CACHED.contains(reader, factory) || super.defaultInclude(reader, factory);
    }

    @Override
    protected Set<Class<?>> getKnownIncludes() {
        return INCLUDED;
    }
}
