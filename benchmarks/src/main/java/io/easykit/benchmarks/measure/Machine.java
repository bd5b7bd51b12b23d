package io.easykit.benchmarks.measure;

import io.easykit.test.RedisServer;
import java.lang.management.ManagementFactory;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Locale;

/** Describes the machine of the measurements. */
public final class Machine {

    private Machine() {}

    public static String describe() {
        return LocalDate.now(ZoneOffset.UTC) + ", " + Runtime.getRuntime().availableProcessors() + " cores, Java "
                + Runtime.version() + ", " + System.getProperty("os.name") + " " + System.getProperty("os.arch");
    }

    public static String describe(RedisServer redis) {
        return describe() + ", Redis " + redis.version() + " without persistence";
    }

    /** Its present load, including that of other programs. */
    public static String load() {
        double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
        return String.format(Locale.ROOT, "load average %.1f", load);
    }
}
