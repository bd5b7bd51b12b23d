package io.easykit.cache.aop;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.admin.CacheDeclaration.KeyPart;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
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
        return parts.length == 1 ? spec.key(parts[0].evaluate(call)) : spec.keyOf(Arrays.asList(values(call)));
    }

    /** As {@link #of}, but null if a part is null. */
    <V> @Nullable CacheKey<V> ofKnown(CacheSpec<V> spec, Call call) {
        @Nullable Object[] values = values(call);
        if (Arrays.asList(values).contains(null)) {
            return null;
        }
        return values.length == 1 ? spec.key(values[0]) : spec.keyOf(Arrays.asList(values));
    }

    private @Nullable Object[] values(Call call) {
        @Nullable Object[] values = new Object[parts.length];
        for (int i = 0; i < parts.length; i++) {
            values[i] = parts[i].evaluate(call);
        }
        return values;
    }

    /** The keys of a batch: each element of the only part is one. */
    List<CacheKey<?>> ofElements(CacheSpec<?> spec, Call call) {
        List<CacheKey<?>> keys = new ArrayList<>();
        elements(spec, call).forEach(element -> keys.add(spec.key(element)));
        return keys;
    }

    /** As {@link #ofElements}, but leaves out elements that are null. Returns whether there was none. */
    boolean addKnownElements(CacheSpec<?> spec, Call call, List<CacheKey<?>> keys) {
        List<Object> elements = elements(spec, call);
        boolean areAllKnown = !elements.contains(null);
        elements.stream().filter(Objects::nonNull).forEach(element -> keys.add(spec.key(element)));
        return areAllKnown;
    }

    private List<Object> elements(CacheSpec<?> spec, Call call) {
        return BatchMethod.elements(parts[0].evaluate(call), texts().get(0), spec.prefix());
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
