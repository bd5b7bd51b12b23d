package io.easykit.cache.aop;

import io.easykit.cache.CacheOptions;
import io.easykit.cache.Consistency;
import java.time.Duration;

/**
 * How old a value can be that a reader gets.
 *
 * @param localLife how old what the local level answers may be, while Redis is away
 */
public record Staleness(Duration localLife) {

    String describe(CacheOptions options) {
        return options.consistency() + ", ttl " + text(options.ttl()) + ", " + worst(options);
    }

    private String worst(CacheOptions options) {
        if (options.consistency() == Consistency.CP) {
            return "never stale (not stored for " + text(options.lease()) + " after a crash of an updater)";
        }
        return "worst staleness " + text(options.window()) + " (" + text(options.lease())
                + " after a crash of an updater, +" + text(localLife) + " while Redis is away)";
    }

    static String text(Duration duration) {
        long millis = duration.toMillis();
        if (millis < 1000) {
            return millis + "ms";
        }
        if (millis % 60_000 == 0) {
            return millis / 60_000 + "m";
        }
        return millis % 1000 == 0 ? millis / 1000 + "s" : Double.toString(millis / 1000.0) + "s";
    }
}
