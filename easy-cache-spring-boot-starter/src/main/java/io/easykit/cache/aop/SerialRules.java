package io.easykit.cache.aop;

import io.easykit.cache.CacheSpec;
import io.easykit.cache.aop.OperationFactory.CacheName;

/** Rules for the declarations of serial caches. */
final class SerialRules {

    private SerialRules() {}

    /** @param source description of the first declaration */
    static void requireSame(CachedMethod where, CacheSpec<?> first, CacheSpec<?> second, String source) {
        boolean serial = isSerial(second);
        if (serial != isSerial(first)) {
            throw where.problem(
                    "the cache '" + second.prefix() + "' is " + (serial ? "serial" : "not serial") + " here, but "
                            + (serial ? "not by " : "serial by ") + source
                            + ", so their calls would not wait for each other",
                    "Set it for both: easy-cache.caches."
                            + CacheName.of(second).settingsName()
                            + ".serial for methods, CacheOptions.serial for a CacheSpec.");
        }
    }

    /** Refuses an update whose key or condition is known only after the method. */
    static void refuseLateKey(CachedMethod where, CacheSpec<?> spec) {
        if (isSerial(spec)) {
            throw where.problem(
                    "the cache '" + spec.prefix() + "' is serial, but this key or condition uses #result,"
                            + " so the method cannot wait for its turn",
                    "Name the key by the arguments. If the method creates the row and its id, no other call can use"
                            + " that key yet: remove the annotation, and call EasyCache.invalidate in the method.");
        }
    }

    private static boolean isSerial(CacheSpec<?> spec) {
        return spec.options().serial() != null;
    }
}
