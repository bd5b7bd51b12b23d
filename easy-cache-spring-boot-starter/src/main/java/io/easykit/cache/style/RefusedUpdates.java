package io.easykit.cache.style;

import io.easykit.cache.InvalidCacheCallException;
import java.lang.reflect.Method;

/** Updates that are refused before their method runs. */
public final class RefusedUpdates {

    private RefusedUpdates() {}

    /**
     * An update inside a reactive transaction would end before it, so a reader could store the old row again.
     *
     * @param prefix of the cache
     * @param entries what would be updated, for the message
     */
    public static InvalidCacheCallException inReactiveTransaction(String prefix, Object entries, Method method) {
        return new InvalidCacheCallException(
                prefix,
                "The update of " + entries + " is refused: " + method
                        + " is subscribed inside a reactive transaction, whose commit the update cannot await. The method has"
                        + " not run. Move the annotation of the update to the method that begins the transaction. If it is"
                        + " there, call that method outside of transactions, and remove the order of"
                        + " @EnableTransactionManagement.",
                null);
    }
}
