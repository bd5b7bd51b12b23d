package io.easykit.cache.aop;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.admin.CacheDeclaration.KeyPart;
import java.util.List;

/** The parts of a key. */
final class KeyExpression {

    private final List<KeyPart> declared;
    private final CallExpression[] parts;

    /** @param declared the declared expressions */
    KeyExpression(List<KeyPart> declared, List<CallExpression> parts) {
        this.declared = declared;
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

    List<String> texts() {
        return declared.stream().map(KeyPart::text).toList();
    }

    List<KeyPart> declared() {
        return declared;
    }
}
