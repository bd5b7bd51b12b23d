package io.easykit.cache.springcache;

import io.easykit.cache.CacheKey;
import io.easykit.cache.FillTicket;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Tickets of the misses of each thread, for the {@code put} that may follow. A ticket is older than each value that the thread
 * reads after the miss, so an update since then refuses it.
 *
 * <p>Only the latest ones are kept. Another thread has none of them.
 */
final class ThreadTickets {

    /** Reads inside each other; a miss may have no {@code put}. */
    private static final int MOST = 8;

    @SuppressWarnings("ThreadLocalUsage") // each application context has its own
    private final ThreadLocal<Map<CacheKey<?>, FillTicket<Object>>> held = new ThreadLocal<>();

    void keep(FillTicket<Object> ticket) {
        Map<CacheKey<?>, FillTicket<Object>> tickets = held.get();
        if (tickets == null) {
            tickets = new LinkedHashMap<>();
            held.set(tickets);
        }
        tickets.remove(ticket.key()); // a present key would keep its place
        tickets.put(ticket.key(), ticket);
        if (tickets.size() > MOST) {
            CacheKey<?> eldest = tickets.keySet().iterator().next();
            drop(eldest);
        }
    }

    /** Returns the ticket of a miss of this thread, for one use; null if there is none. */
    @Nullable FillTicket<Object> take(CacheKey<?> key) {
        Map<CacheKey<?>, FillTicket<Object>> tickets = held.get();
        FillTicket<Object> ticket = tickets == null ? null : tickets.remove(key);
        if (tickets != null && tickets.isEmpty()) {
            held.remove();
        }
        return ticket;
    }

    /** Closes the ticket of a key, so that other readers need not wait for it. */
    void drop(CacheKey<?> key) {
        FillTicket<Object> ticket = take(key);
        if (ticket != null) {
            ticket.close();
        }
    }
}
