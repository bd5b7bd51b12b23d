package io.easykit.cache.aop;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.admin.CacheDeclaration.KeyPart;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The parts of a key. */
final class KeyExpression {

    private final List<KeyPart> declared;
    private final CallExpression[] parts;
    private final @Nullable BatchMethod batch;

    /** @param declared the declared expressions */
    KeyExpression(List<KeyPart> declared, List<CallExpression> parts) {
        this(declared, parts, null);
    }

    /** @param batch if each element of the only part is a key; else null */
    KeyExpression(List<KeyPart> declared, List<CallExpression> parts, @Nullable BatchMethod batch) {
        this.declared = declared;
        this.batch = batch;
        this.parts = parts.toArray(CallExpression[]::new);
    }

    /** @throws io.easykit.cache.InvalidCacheKeyException if a part is null, or has no stable text */
    <V> CacheKey<V> of(CacheSpec<V> spec, Call call) {
        if (parts.length == 1) {
            return spec.key(parts[0].evaluate(call));
        }
        Object[] values = new Object[parts.length];
        for (int i = 0; i < parts.length; i++) {
            values[i] = parts[i].evaluate(call);
        }
        return spec.key(values);
    }

    /** The keys of a batch: each element of the only part is one. */
    List<CacheKey<?>> ofElements(CacheSpec<?> spec, Call call) {
        List<CacheKey<?>> keys = new ArrayList<>();
        for (Object element : BatchMethod.elements(parts[0].evaluate(call), texts().get(0), spec.prefix())) {
            keys.add(spec.key(element));
        }
        return keys;
    }

    /** The method of which each element of the only part is a key; null if all parts are one key. */
    @Nullable BatchMethod batch() {
        return batch;
    }

    List<String> texts() {
        return declared.stream().map(KeyPart::text).toList();
    }

    List<KeyPart> declared() {
        return declared;
    }
}
