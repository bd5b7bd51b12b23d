package io.easykit.benchmarks;

import io.easykit.test.RedisServer;
import java.time.LocalDate;
import java.time.ZoneOffset;

/** Where the figures come from. */
final class Machine {

    private Machine() {}

    static String describe() {
        return LocalDate.now(ZoneOffset.UTC) + ", " + Runtime.getRuntime().availableProcessors() + " cores, Java "
                + Runtime.version() + ", " + System.getProperty("os.name") + " " + System.getProperty("os.arch");
    }

    static String describe(RedisServer redis) {
        return describe() + ", Redis " + redis.version() + " without persistence";
    }
}
