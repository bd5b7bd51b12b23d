package io.easykit.boot;

import java.util.Map;

/**
 * Keeps entries of the audit for a page that shows them. The first bean of this type in the order of the application is used.
 * It may throw exceptions: they are logged, and change nothing else.
 */
public interface AuditKeeper {

    /** Keeps nothing. */
    AuditKeeper NONE = entry -> {};

    /** Keeps an entry, or the rest of the entry with the same {@code id}. Must not keep the map itself. */
    void keep(Map<String, Object> entry);
}
