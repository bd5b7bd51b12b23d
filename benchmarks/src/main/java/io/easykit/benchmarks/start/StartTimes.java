package io.easykit.benchmarks.start;

import io.easykit.benchmarks.measure.ChildProgram;
import io.easykit.benchmarks.measure.Machine;
import io.easykit.benchmarks.measure.Spread;
import io.easykit.benchmarks.measure.Table;
import io.easykit.benchmarks.start.app.WebApplication;
import io.easykit.test.RedisServer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;

/**
 * S1: the start of a web application, bare and with each product, beside Spring's {@code RedisCache}. Each start is a new JVM. In each
 * round all of them start, one after the other, so that noise of the machine affects all. Differences are those inside a round.
 */
public final class StartTimes {

    private static final int ROUNDS = 10;
    private static final String HEAP = "256m";

    /** For work that goes on in the background when the application is ready. */
    private static final long LATER_SECONDS = 1;

    private final RedisServer redis;
    private final StartClassPath paths;
    private final Map<Row, List<Start>> starts = new LinkedHashMap<>();

    private StartTimes(RedisServer redis, Path own) {
        this.redis = redis;
        this.paths = StartClassPath.of(own);
    }

    /** Takes the number of rounds (default 10), and the {@code benchmarks.jar} of another version to start beside this one. */
    public static void run(String... arguments) throws InterruptedException {
        int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : ROUNDS;
        Path own = Path.of(System.getProperty("java.class.path")).toAbsolutePath();
        List<Row> rows = new ArrayList<>();
        for (StartContender contender : StartContender.values()) {
            if (contender.isOurs() && arguments.length > 1) {
                rows.add(new Row(
                        contender,
                        contender.title() + ", before",
                        Path.of(arguments[1]).toAbsolutePath()));
            }
            rows.add(new Row(contender, contender.title(), own));
        }
        try (RedisServer redis = RedisServer.start()) {
            System.out.println("S1, " + Machine.describe(redis) + ", " + Machine.load() + ", " + rounds + " rounds\n");
            StartTimes program = new StartTimes(redis, own);
            for (int round = 0; round < rounds; round++) {
                Collections.rotate(rows, 1);
                for (Row row : rows) {
                    program.starts
                            .computeIfAbsent(row, some -> new ArrayList<>())
                            .add(program.start(row));
                }
            }
            program.print();
        }
    }

    private Start start(Row row) throws InterruptedException {
        List<String> arguments = new ArrayList<>(row.contender.beans());
        arguments.add("--server.port=0");
        arguments.add("--spring.main.banner-mode=off");
        if (row.contender != StartContender.WEB) {
            arguments.add("--spring.data.redis.host=" + redis.host());
            arguments.add("--spring.data.redis.port=" + redis.port());
        }
        long began = System.nanoTime();
        try (ChildProgram application = ChildProgram.start(
                row.title,
                WebApplication.READY,
                HEAP,
                paths.of(row.contender, row.version),
                WebApplication.class.getName(),
                arguments)) {
            double millis = (System.nanoTime() - began) / 1e6;
            double cpu = application.cpu().toMillis();
            double classes = Double.parseDouble(application.ask("classes"));
            TimeUnit.SECONDS.sleep(LATER_SECONDS);
            return new Start(millis, cpu, application.cpu().toMillis(), classes);
        }
    }

    private void print() {
        Table.header(
                "application",
                "settings",
                "ready after ms",
                "more than bare",
                "CPU ms",
                "more than bare",
                "CPU ms a second later",
                "more than bare",
                "classes",
                "more than bare");
        List<Start> bare = starts.entrySet().stream()
                .filter(row -> row.getKey().contender == StartContender.WEB)
                .map(Map.Entry::getValue)
                .findFirst()
                .orElseThrow();
        for (StartContender contender : StartContender.values()) {
            starts.forEach((row, own) -> {
                if (row.contender == contender) {
                    List<Object> cells = new ArrayList<>(List.of(row.title, contender.settings()));
                    add(cells, own, bare, Start::millis);
                    add(cells, own, bare, Start::cpu);
                    add(cells, own, bare, Start::cpuLater);
                    add(cells, own, bare, Start::classes);
                    Table.row(cells.toArray());
                }
            });
        }
    }

    private static void add(List<Object> cells, List<Start> own, List<Start> bare, ToDoubleFunction<Start> figure) {
        cells.add(Spread.of(own, figure).text(0));
        List<Double> more = new ArrayList<>();
        for (int round = 0; round < own.size(); round++) {
            more.add(figure.applyAsDouble(own.get(round)) - figure.applyAsDouble(bare.get(round)));
        }
        cells.add(Spread.of(more).text(0));
    }

    /**
     * An application.
     *
     * @param version the {@code benchmarks.jar} with the version of easykit
     */
    private record Row(StartContender contender, String title, Path version) {}

    /**
     * One start.
     *
     * @param millis time from the start of the JVM until the application is ready
     * @param cpu CPU time of the process until then, in ms
     * @param cpuLater that a second later
     * @param classes loaded classes
     */
    private record Start(double millis, double cpu, double cpuLater, double classes) {}
}
