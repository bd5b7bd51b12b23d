package io.easykit.benchmarks;

import io.easykit.benchmarks.cache.BatchReads;
import io.easykit.benchmarks.cache.CacheVersions;
import io.easykit.benchmarks.cache.EntrySizes;
import io.easykit.benchmarks.cache.LocalHits;
import io.easykit.benchmarks.cache.NearHits;
import io.easykit.benchmarks.cache.RedisHits;
import io.easykit.benchmarks.cache.SerialKey;
import io.easykit.benchmarks.cache.SlowLoads;
import io.easykit.benchmarks.chart.Charts;
import io.easykit.benchmarks.measure.Comparison;
import io.easykit.benchmarks.measure.CountedRedis;
import io.easykit.benchmarks.measure.Machine;
import io.easykit.benchmarks.measure.Version;
import io.easykit.benchmarks.queue.Backlogs;
import io.easykit.benchmarks.queue.Bursts;
import io.easykit.benchmarks.queue.Flows;
import io.easykit.benchmarks.queue.Footprints;
import io.easykit.benchmarks.queue.IdleTopics;
import io.easykit.benchmarks.queue.OperatingCosts;
import io.easykit.benchmarks.queue.Punctuality;
import io.easykit.benchmarks.queue.QueueVersions;
import io.easykit.benchmarks.queue.ReplicatedSends;
import io.easykit.benchmarks.queue.Scaling;
import io.easykit.benchmarks.queue.ScriptCosts;
import io.easykit.benchmarks.queue.Sends;
import io.easykit.benchmarks.queue.Workers;
import io.easykit.benchmarks.start.StartTimes;
import io.easykit.benchmarks.threads.VirtualThreads;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Runs one benchmark by its name. */
public final class Main {

    private static final List<String> OF_THE_QUEUE = List.of("q1", "q2", "q3", "q4", "q5", "q6", "q7", "q9", "q10");

    /** Those that can be counted: not the ones that ask for times, or start no Redis of their own. */
    private static final Set<String> COUNTED =
            new TreeSet<>(Set.of("c1", "c10", "q1", "q2", "q3", "q4", "scripts", "versions"));

    private static final String USAGE =
            """
            Which benchmark?

            easy-cache   c1   hits at the Redis level      [milliseconds of a run, 2000]
                         c2   hits at the local level      [milliseconds of an iteration, 1000]
                         c5   loads slower than the load lease [milliseconds of a row, 8000]
                         c7   bytes of an entry
                         c9   hot keys on the near level   [milliseconds of a run, 5000] [reads of three JVMs, 1000000]
                         c10  ten ids as one batch         [batches of a round, 1000]
                         c11  one hot key in order         [milliseconds of a row, 10000]

            delay-queue  q1   sends one by one             q6   q5 and q4 with up to 10,000,000 pending
                         q2   sends in lists               q7   slow handlers, few workers
                         q3   send and receive for 60 s    q9   bytes of a pending message
                         q4   many due at once             q10  idle queues
                         q5   lateness when idle           q11  one shard against eight on three masters
                         q12  sends that wait for replicas   q13  what operators cost Redis
                         q    all of them but q11 to q13 in turn
                         [size, 1: messages and times are multiplied by it, so 0.05 is a short trial
                         [words: only contenders whose titles begin with one of them]]

            both         s1   start of a web application  [rounds, 10] [benchmarks.jar of another version]
                         t1   waiting readers and sleeping handlers on virtual threads (Java 21 or later)

            two versions  versions JAR   c1, c2, q1, q3 and q4 of the version whose benchmarks.jar is named, and of this one
                                         [cache or queue: only that one]
                          scripts JAR    Redis CPU of one call of each script, of that version and of this one

            counted      counted BENCHMARK …   c1, c10, q1 to q4, versions or scripts with instructions of Redis, not CPU time, by Valgrind

            charts       charts PAGE FOLDER  draws the tables of a page such as benchmarks/README.md as SVG

            For example: java -jar benchmarks.jar q4 0.1 delay-queue Redisson""";

    private Main() {}

    public static void main(String[] arguments) throws Exception {
        String name = arguments.length == 0 ? "" : arguments[0];
        String[] rest = arguments.length == 0 ? arguments : Arrays.copyOfRange(arguments, 1, arguments.length);
        List<String> names = name.equals("q") ? OF_THE_QUEUE : List.of(name);
        for (String one : names) {
            run(one, rest);
        }
    }

    private static void run(String name, String... arguments) throws Exception {
        switch (name) {
            case "c1" -> RedisHits.run(arguments);
            case "c2" -> LocalHits.run(arguments);
            case "c5" -> SlowLoads.run(arguments);
            case "c7" -> EntrySizes.run();
            case "c9" -> NearHits.run(arguments);
            case "c10" -> BatchReads.run(arguments);
            case "c11" -> SerialKey.run(arguments);
            case "q1" -> Sends.oneByOne(arguments);
            case "q2" -> Sends.inLists(arguments);
            case "q3" -> Flows.run(arguments);
            case "q4" -> Bursts.run(arguments);
            case "q5" -> Punctuality.run(arguments);
            case "q6" -> Backlogs.run(arguments);
            case "q7" -> Workers.run(arguments);
            case "q9" -> Footprints.run(arguments);
            case "q10" -> IdleTopics.run(arguments);
            case "q11" -> Scaling.run(arguments);
            case "q12" -> ReplicatedSends.run(arguments);
            case "q13" -> OperatingCosts.run(arguments);
            case "s1" -> StartTimes.run(arguments);
            case "t1" -> VirtualThreads.run();
            case "versions" -> versions(arguments);
            case "counted" -> counted(arguments);
            case "charts" -> Charts.run(arguments);
            case "scripts" -> ScriptCosts.run(beforeAndNow(arguments));
            default -> {
                System.err.println(USAGE);
                System.exit(2);
            }
        }
    }

    private static void counted(String... arguments) throws Exception {
        if (arguments.length == 0 || !COUNTED.contains(arguments[0])) {
            System.err.println("counted takes one of " + String.join(", ", COUNTED));
            System.exit(2);
        }
        CountedRedis.use();
        main(arguments);
    }

    private static void versions(String... arguments) throws Exception {
        List<Version> versions = beforeAndNow(arguments);
        List<String> products = arguments.length == 1 ? List.of("cache", "queue") : List.of(arguments[1]);
        System.out.println("Two versions, " + Machine.describe() + ", " + Comparison.rounds() + " rounds\n");
        if (products.contains("cache")) {
            CacheVersions.run(versions);
        }
        if (products.contains("queue")) {
            System.out.println();
            QueueVersions.run(versions);
        }
    }

    private static List<Version> beforeAndNow(String... arguments) {
        if (arguments.length == 0) {
            throw new IllegalArgumentException("Name the benchmarks.jar of the other version.");
        }
        return Version.beforeAndNow(arguments[0]);
    }
}
