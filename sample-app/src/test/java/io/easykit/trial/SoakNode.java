package io.easykit.trial;

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

/** One process of the soak: reads, updates and sends until the file {@link #CALM} exists; then it only reads. */
final class SoakNode {

    static final String CALM = "calm";
    static final String STARTED = "soak node started";
    static final String EQUAL = "all values are those of the database";
    static final String TOPIC = "soak";

    /** The process of this name creates the entries. */
    static final String FIRST = "node0";

    /** Start of a line with the bytes of the heap after a collection, and the number of threads. */
    static final String FIGURES = "figures ";

    private static final int LONGEST_DELAY_MILLIS = 800;
    private static final List<String> IDS =
            IntStream.range(0, 50).mapToObj(i -> "k" + i).toList();

    private final Path directory;
    private final String name;
    private final Ledger ledger;
    private final TrialNode node;
    private final AtomicLong numbers = new AtomicLong();
    private boolean equal;

    private SoakNode(Path directory, String name, List<String> settings) {
        this.directory = directory;
        this.name = name;
        this.ledger = new Ledger(directory, name);
        this.node = TrialNode.start(settings, ledger::delivered);
    }

    private static void fill(TrialNode.Entries entries) {
        entries.createTable();
        for (String id : IDS) {
            entries.create(TrialNode.AP, id);
            entries.create(TrialNode.CP, id);
        }
    }

    /** Runs a node; the arguments are the directory, its name and the settings of Spring Boot. */
    public static void main(String[] arguments) {
        SoakNode soak = new SoakNode(
                Path.of(arguments[0]), arguments[1], List.of(arguments).subList(2, arguments.length));
        if (soak.name.equals(FIRST)) {
            fill(soak.node.entries());
        }
        // They end with the process.
        PacedCalls calls = new PacedCalls();
        calls.repeat("reads", Duration.ofMillis(4), () -> attempt(soak::read));
        calls.repeat("updates", Duration.ofMillis(20), () -> attempt(soak::update));
        calls.repeat("sends", Duration.ofMillis(10), () -> attempt(soak::send));
        calls.repeat("equality", Duration.ofMillis(500), () -> attempt(soak::compare));
        calls.repeat("figures", Duration.ofSeconds(5), SoakNode::print);
        System.out.println(STARTED);
    }

    /** Calls fail while Redis is away. The ledger and the comparison at the end decide. */
    private static void attempt(Runnable call) {
        try {
            call.run();
        } catch (RuntimeException away) {
            // See above.
        }
    }

    private static void print() {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        System.out.println(FIGURES + (runtime.totalMemory() - runtime.freeMemory()) + " "
                + ManagementFactory.getThreadMXBean().getThreadCount());
    }

    private void read() {
        String id = anyId();
        if (ThreadLocalRandom.current().nextBoolean()) {
            node.entries().ap(id);
        } else {
            node.entries().cp(id);
        }
    }

    private void update() {
        if (isCalm()) {
            return;
        }
        String id = anyId();
        if (ThreadLocalRandom.current().nextBoolean()) {
            node.entries().updateAp(id);
        } else {
            node.entries().updateCp(id);
        }
    }

    private void send() {
        if (isCalm()) {
            return;
        }
        String id = name + "-" + numbers.incrementAndGet();
        node.send(TOPIC, id, Duration.ofMillis(ThreadLocalRandom.current().nextInt(LONGEST_DELAY_MILLIS)));
        ledger.acknowledged(id);
    }

    private void compare() {
        if (isCalm() && !equal && IDS.stream().allMatch(this::isEqual)) {
            equal = true;
            System.out.println(EQUAL);
        }
    }

    private boolean isEqual(String id) {
        return node.entries().ap(id).equals(node.entries().stored(TrialNode.AP, id))
                && node.entries().cp(id).equals(node.entries().stored(TrialNode.CP, id));
    }

    private boolean isCalm() {
        return Files.exists(directory.resolve(CALM));
    }

    private static String anyId() {
        return IDS.get(ThreadLocalRandom.current().nextInt(IDS.size()));
    }
}
