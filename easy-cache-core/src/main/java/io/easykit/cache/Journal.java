package io.easykit.cache;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Invalidations that could not be delivered: the latest of each key, up to a limit; beyond it the prefixes of all that
 * it held, whose epochs are to be raised instead. In memory: what a node could not say before it died is lost with it.
 */
final class Journal {

    private final int limit;
    private final Map<CacheKey<?>, Undelivered> undelivered = new LinkedHashMap<>();
    private final Set<String> overflowed = new LinkedHashSet<>();
    private final Set<String> raising = new LinkedHashSet<>();
    private volatile boolean waiting;

    Journal(int limit) {
        this.limit = limit;
    }

    /**
     * @param token of the update that was prepared; empty without one, which leaves that of an earlier one
     */
    synchronized void add(Collection<? extends CacheKey<?>> keys, String token) {
        for (CacheKey<?> key : keys) {
            if (!overflowed.contains(key.spec().prefix())) {
                Undelivered before = undelivered.get(key);
                undelivered.put(key, new Undelivered(key, token.isEmpty() && before != null ? before.token : token));
            }
        }
        if (undelivered.size() > limit) {
            undelivered.keySet().forEach(key -> overflowed.add(key.spec().prefix()));
            undelivered.clear();
        }
        waiting = !isEmpty() || !raising.isEmpty();
    }

    /** Adds what fits without overflowing. For invalidations that are only a precaution. */
    synchronized void addIfRoom(Collection<? extends CacheKey<?>> keys) {
        for (CacheKey<?> key : keys) {
            if (undelivered.size() < limit || undelivered.containsKey(key)) {
                add(List.of(key), "");
            }
        }
    }

    /** All of them. They stay until {@link #delivered}. */
    synchronized List<Undelivered> all() {
        return List.copyOf(undelivered.values());
    }

    /** Forgets what was delivered, unless the key was invalidated again meanwhile. */
    synchronized void delivered(List<Undelivered> done) {
        for (Undelivered one : done) {
            if (undelivered.get(one.key) == one) {
                undelivered.remove(one.key);
            }
        }
        waiting = !isEmpty() || !raising.isEmpty();
    }

    /**
     * The prefixes whose epochs are to be raised. Taken before that is done: what comes in meanwhile is remembered anew.
     */
    synchronized Set<String> takeOverflowed() {
        Set<String> taken = Set.copyOf(overflowed);
        overflowed.clear();
        raising.addAll(taken);
        return taken;
    }

    /** The epochs of all prefixes that were taken are raised, or their prefixes are remembered again. */
    synchronized void raised() {
        raising.clear();
        waiting = !isEmpty() || !raising.isEmpty();
    }

    /** Remembers that all of a prefix is to be invalidated. */
    synchronized void overflow(String prefix) {
        overflowed.add(prefix);
        waiting = true;
    }

    /** Whether the invalidation of a key is still to be delivered, by itself or with its prefix. Every hit asks this. */
    boolean holds(CacheKey<?> key) {
        return waiting && isWaiting(key);
    }

    private synchronized boolean isWaiting(CacheKey<?> key) {
        return undelivered.containsKey(key)
                || overflowed.contains(key.spec().prefix())
                || raising.contains(key.spec().prefix());
    }

    synchronized boolean isEmpty() {
        return undelivered.isEmpty() && overflowed.isEmpty();
    }

    /** How many keys wait, and prefixes as a whole. */
    synchronized int size() {
        return undelivered.size() + overflowed.size();
    }

    /** One invalidation; two of one key are two, even if they look the same. */
    static final class Undelivered {

        private final CacheKey<?> key;
        private final String token;

        private Undelivered(CacheKey<?> key, String token) {
            this.key = key;
            this.token = token;
        }

        CacheKey<?> key() {
            return key;
        }

        /** Of the update that was prepared; empty without one. */
        String token() {
            return token;
        }
    }
}
