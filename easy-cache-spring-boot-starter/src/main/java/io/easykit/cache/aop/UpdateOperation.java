package io.easykit.cache.aop;

import io.easykit.cache.Action;
import io.easykit.cache.CacheKey;
import io.easykit.cache.style.LateKeys;
import io.easykit.cache.style.ReturnedValue;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The operation of an {@code @UpdateCache} method.
 *
 * @param before entries known before the method
 * @param after entries named by its result
 * @param returned how the method returns its result
 */
record UpdateOperation(List<Entry> before, List<Entry> after, ReturnedValue returned) {

    private static final Logger log = LoggerFactory.getLogger(UpdateOperation.class);

    /** One annotation, and the entry that it updates. */
    record Declared(DeclaredUpdate update, Entry entry) {}

    /** @param all at least one annotation of a method */
    static UpdateOperation of(List<Declared> all) {
        CachedMethod where = all.get(0).update.where();
        return new UpdateOperation(
                entries(all, false), entries(all, true), ReturnedValue.of(where.method(), where.targetClass()));
    }

    private static List<Entry> entries(List<Declared> all, boolean knownAfterMethod) {
        return all.stream()
                .filter(one -> one.update.isKnownAfterMethod() == knownAfterMethod)
                .map(Declared::entry)
                .toList();
    }

    /**
     * Keys before the method.
     *
     * @param unknown entries with a part that is null: the method may assign it, as the id of a new row
     */
    record KeysBefore(List<CacheKey<?>> keys, List<Entry> unknown) {}

    KeysBefore keysBefore(Call call) {
        List<CacheKey<?>> keys = new ArrayList<>(before.size());
        List<Entry> unknown =
                before.stream().filter(entry -> !entry.addKnownKeys(call, keys)).toList();
        return new KeysBefore(keys, unknown);
    }

    /** Whether the method may update an entry. Known before it, unless a condition is over its result. */
    boolean applies(Call call) {
        return !after.isEmpty() || before.stream().anyMatch(entry -> entry.applies(call));
    }

    /** Whether one of the entries that are known before the method belongs to a serial cache. */
    boolean isSerial() {
        return before.stream().anyMatch(entry -> entry.serial.getAsBoolean());
    }

    /**
     * Runs the method, and invalidates the keys that are known only after it.
     *
     * @param before keys that were known before it, and are prepared
     * @param invalidation of the others
     */
    @Nullable Object run(Call call, KeysBefore before, Action<Object, Throwable> method, Consumer<List<CacheKey<?>>> invalidation)
            throws Throwable {
        Object result;
        try {
            result = method.run();
        } catch (Throwable failure) {
            invalidateAfter(failure, changedKeys(call, before.keys), invalidation);
            throw failure;
        }
        keysAfter(call.withResult(result), before).invalidate(invalidation);
        return result;
    }

    /** The data may have changed although the method has failed, as with an exception after the commit. */
    private static void invalidateAfter(Throwable failure, LateKeys keys, Consumer<List<CacheKey<?>>> invalidation) {
        try {
            keys.invalidate(invalidation);
        } catch (Throwable also) {
            if (also != failure) {
                failure.addSuppressed(also);
            }
        }
    }

    private LateKeys keysAfter(Call call, KeysBefore known) {
        LateKeys keys = changedKeys(call, known.keys);
        after.forEach(entry -> keys.add(all -> entry.addKeys(call, all)));
        // To report the part that is still null.
        known.unknown.forEach(entry -> keys.add(all -> entry.addKeys(call, new ArrayList<>())));
        return keys;
    }

    /** Keys that are others after the method: it has assigned an id, or the caller of a future has changed the argument. */
    private LateKeys changedKeys(Call call, Collection<CacheKey<?>> prepared) {
        LateKeys keys = new LateKeys();
        before.forEach(entry -> keys.add(all -> addStillKnown(entry, call, all)));
        keys.remove(prepared);
        return keys;
    }

    private static void addStillKnown(Entry entry, Call call, List<CacheKey<?>> keys) {
        try {
            boolean unused = entry.addKnownKeys(call, keys);
        } catch (RuntimeException gone) {
            log.debug("A key of {} is not known any more after the method", call.getMethod(), gone);
        }
    }

    /**
     * One entry, or several of a batch.
     *
     * @param serial whether its cache is serial; the cache may be declared later
     * @param condition null if there is none
     */
    record Entry(BooleanSupplier serial, UpdateKeys keysOf, @Nullable CallExpression condition) {

        boolean applies(Call call) {
            return condition == null || condition.holds(call);
        }

        void addKeys(Call call, List<CacheKey<?>> keys) {
            try {
                if (!applies(call)) {
                    return;
                }
            } catch (RuntimeException unknown) {
                // The method has run, so the entry may have changed.
                keys.addAll(keysOf.of(call));
                throw unknown;
            }
            keys.addAll(keysOf.of(call));
        }

        /** Returns whether these are all. A serial update cannot take its turn later, so each part must be known. */
        boolean addKnownKeys(Call call, List<CacheKey<?>> keys) {
            if (!applies(call)) {
                return true;
            }
            if (serial.getAsBoolean()) {
                keys.addAll(keysOf.of(call));
                return true;
            }
            return keysOf.addKnown(call, keys);
        }
    }
}
