package io.easykit.cache.engine;

import io.easykit.cache.store.StoreUnavailableException;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Calls that are all made: the error of one leaves out no other. */
final class AllCalls {

    private AllCalls() {}

    /**
     * Makes a call for each member, in their order. Then it throws the first error, with the others as suppressed ones. A store
     * that does not answer counts least: its exception is thrown if there is no other error.
     *
     * @param call throws an unchecked exception or an error if it fails
     */
    static <T> void forEach(Iterable<? extends T> members, Consumer<? super T> call) {
        Throwable first = null;
        for (T member : members) {
            try {
                call.accept(member);
            } catch (RuntimeException | Error failure) {
                first = withSuppressed(first, failure);
            }
        }
        if (first instanceof Error error) {
            throw error;
        }
        if (first != null) {
            throw (RuntimeException) first;
        }
    }

    /** The same for the pairs of a map. */
    static <K, V> void forEach(Map<K, V> members, BiConsumer<? super K, ? super V> call) {
        forEach(members.entrySet(), one -> call.accept(one.getKey(), one.getValue()));
    }

    private static Throwable withSuppressed(@Nullable Throwable first, Throwable later) {
        if (first == null) {
            return later;
        }
        if (first == later) {
            return first;
        }
        boolean isWorse = first instanceof StoreUnavailableException && !(later instanceof StoreUnavailableException);
        Throwable thrown = isWorse ? later : first;
        thrown.addSuppressed(isWorse ? first : later);
        return thrown;
    }
}
