package io.easykit.benchmarks.measure;

import io.easykit.test.RedisServer;
import java.time.LocalDate;
import java.time.ZoneOffset;

/** Where the figures come from. */
public final class Machine {

    private Machine() {}

    public static String describe() {
        return LocalDate.now(ZoneOffset.UTC) + ", " + Runtime.getRuntime().availableProcessors() + " cores, Java "
                + Runtime.version() + ", " + System.getProperty("os.name") + " " + System.getProperty("os.arch");
    }

    public static String describe(RedisServer redis) {
        return describe() + ", Redis " + redis.version() + " without persistence";
    }
}
