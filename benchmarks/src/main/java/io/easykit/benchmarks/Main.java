package io.easykit.benchmarks;

import io.easykit.benchmarks.cache.EntrySizes;
import io.easykit.benchmarks.cache.LocalHits;
import io.easykit.benchmarks.cache.RedisHits;
import io.easykit.benchmarks.cache.SlowLoads;
import java.util.Arrays;

/** Runs one benchmark by its name. */
public final class Main {

    private Main() {}

    public static void main(String[] arguments) throws Exception {
        String name = arguments.length == 0 ? "" : arguments[0];
        String[] rest = arguments.length == 0 ? arguments : Arrays.copyOfRange(arguments, 1, arguments.length);
        switch (name) {
            case "c1" -> RedisHits.run(rest);
            case "c2" -> LocalHits.run(rest);
            case "c5" -> SlowLoads.run(rest);
            case "c7" -> EntrySizes.run();
            default -> {
                System.err.println("Which benchmark? c1: hits at the Redis level, c2: hits at the local level,"
                        + " c5: slow loads, c7: bytes of an entry. For example: java -jar benchmarks.jar c1");
                System.exit(2);
            }
        }
    }
}
