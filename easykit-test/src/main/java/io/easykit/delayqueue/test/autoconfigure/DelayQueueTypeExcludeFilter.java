package io.easykit.delayqueue.test.autoconfigure;

import io.easykit.boot.AnnotatedTypes;
import io.easykit.delayqueue.DelayListenerInterceptor;
import io.easykit.delayqueue.DelayQueueListener;
import io.easykit.delayqueue.ErrorHandler;
import io.easykit.delayqueue.IdempotencyStore;
import io.easykit.delayqueue.PayloadCodec;
import io.easykit.delayqueue.SendInterceptor;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.autoconfigure.DelayQueueCustomizer;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.springframework.boot.test.context.filter.annotation.StandardAnnotationCustomizableTypeExcludeFilter;
import org.springframework.core.type.classreading.MetadataReader;
import org.springframework.core.type.classreading.MetadataReaderFactory;

/** Leaves out components that do not belong to the delay queue. */
final class DelayQueueTypeExcludeFilter extends StandardAnnotationCustomizableTypeExcludeFilter<DelayQueueTest> {

    private static final AnnotatedTypes LISTENERS = new AnnotatedTypes(List.of(DelayListener.class));

    private static final Set<Class<?>> INCLUDED = Set.of(
            DelayListenerInterceptor.class,
            SendInterceptor.class,
            ErrorHandler.class,
            DelayQueueListener.class,
            PayloadCodec.class,
            IdempotencyStore.class,
            DelayQueueCustomizer.class);

    DelayQueueTypeExcludeFilter(Class<?> testClass) {
        super(testClass);
    }

    @Override
    protected boolean defaultInclude(MetadataReader reader, MetadataReaderFactory factory) throws IOException {
        return LISTENERS.contains(reader, factory) || super.defaultInclude(reader, factory);
    }

    @Override
    protected Set<Class<?>> getKnownIncludes() {
        return INCLUDED;
    }
}
