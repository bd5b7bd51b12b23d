package io.easykit.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.sample.ShopClient.Answer;
import io.easykit.test.ChildJvm;
import io.easykit.test.RedisCluster;
import io.easykit.test.RedisSentinels;
import io.easykit.test.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The shop on Sentinel and on a cluster, used over HTTP while its master is killed or paused.
 * {@code -Deasykit.shop.jar} runs that jar with {@code java -jar}.
 */
@Tag("heavy")
class ShopFailoverTests {

    private static final Pattern PORT = Pattern.compile("Tomcat started on port (\\d+)");
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration GO_ON = Duration.ofSeconds(4);

    @TempDir
    Path dataDirectory;

    private final Map<String, Map<Integer, Integer>> statuses = new ConcurrentSkipListMap<>();
    private final Queue<String> orders = new ConcurrentLinkedQueue<>();
    private final CountDownLatch stopped = new CountDownLatch(1);

    enum Failure {
        KILL,
        PAUSE
    }

    @ParameterizedTest
    @EnumSource(Failure.class)
    void goesOnWithSentinel(Failure failure) throws InterruptedException {
        try (RedisSentinels group = RedisSentinels.start(2)) {
            RedisServer former = group.master();
            goesOn(
                    List.of(
                            "--spring.data.redis.sentinel.master=" + RedisSentinels.MASTER_NAME,
                            "--spring.data.redis.sentinel.nodes=" + group.addresses()),
                    former,
                    group::awaitOtherMaster,
                    failure);
        }
    }

    @ParameterizedTest
    @EnumSource(Failure.class)
    void goesOnWithACluster(Failure failure) throws InterruptedException {
        try (RedisCluster cluster =
                RedisCluster.start(3, 1, "--cluster-node-timeout", "1000", "--cluster-require-full-coverage", "no")) {
            int share = cluster.shareOf("dq:{order-close:0}:");
            goesOn(
                    List.of("--spring.data.redis.cluster.nodes=" + cluster.addresses()),
                    cluster.master(share),
                    former -> cluster.awaitOtherMaster(share, former),
                    failure);
        }
    }

    private void goesOn(
            List<String> settings, RedisServer master, Consumer<RedisServer> awaitOtherMaster, Failure failure)
            throws InterruptedException {
        try (ChildJvm process = start(settings)) {
            ShopClient shop = clientOf(process);
            shop.put("/stocks/SKU-1", "{\"quantity\": 1000000}");
            int logged = process.lines().size();
            List<Thread> customers = customers(shop);
            customers.forEach(Thread::start);
            goOn();
            if (failure == Failure.KILL) {
                master.kill();
            } else {
                master.pause();
            }
            awaitOtherMaster.accept(master);
            int placed = orders.size();
            goOn();
            if (failure == Failure.PAUSE) {
                master.resume();
                goOn();
            }
            stopped.countDown();
            for (Thread customer : customers) {
                customer.join();
            }
            System.out.println(failure + ": " + statuses);
            List<String> lines = process.lines().subList(logged, process.lines().size());
            lines.forEach(System.out::println);

            assertThat(statuses.get("GET").keySet()).as("reads").containsExactly(200);
            assertThat(statuses.get("PUT /products").keySet()).as("AP updates").containsExactly(200);
            assertThat(statuses.get("PUT /stocks").keySet()).as("CP updates").isSubsetOf(200, 503);
            assertThat(statuses.get("POST /orders").keySet()).as("orders").isSubsetOf(201, 503);
            assertThat(orders.size()).as("orders go on").isGreaterThan(placed);
            assertThat(lines).as("stack traces").noneMatch(line -> line.startsWith("\tat "));
            await().atMost(PATIENCE).until(() -> orders.stream()
                    .allMatch(id -> shop.get("/orders/" + id).text("status").equals("CLOSED")));
        }
    }

    private List<Thread> customers(ShopClient shop) {
        return List.of(
                repeating("GET", i -> shop.get("/products/" + (1 + i % 10)), answer -> {}),
                repeating("GET", i -> shop.get("/stocks/SKU-" + (1 + i % 10)), answer -> {}),
                repeating(
                        "PUT /products",
                        i -> shop.put("/products/" + (1 + i % 10), "{\"name\": \"Lamp " + i + "\", \"price\": 1}"),
                        answer -> {}),
                repeating(
                        "PUT /stocks",
                        i -> shop.put("/stocks/SKU-" + (2 + i % 9), "{\"quantity\": " + i + "}"),
                        answer -> {}),
                repeating("POST /orders", i -> shop.post("/orders", "{\"productId\": 1, \"quantity\": 1}"), answer -> {
                    if (answer.status() == 201) {
                        orders.add(answer.text("id"));
                    }
                }));
    }

    private Thread repeating(String kind, IntFunction<Answer> request, Consumer<Answer> then) {
        return new Thread(
                () -> {
                    for (int i = 0; stopped.getCount() > 0; i++) {
                        Answer answer = request.apply(i);
                        statuses.computeIfAbsent(kind, unseen -> new ConcurrentSkipListMap<>())
                                .merge(answer.status(), 1, Integer::sum);
                        then.accept(answer);
                    }
                },
                kind);
    }

    private void goOn() throws InterruptedException {
        assertThat(stopped.await(GO_ON.toMillis(), TimeUnit.MILLISECONDS)).isFalse();
    }

    private ChildJvm start(List<String> settings) {
        List<String> arguments = new ArrayList<>(settings);
        arguments.addAll(List.of("--server.port=0", "--shop.data-dir=" + dataDirectory, "--shop.payment-timeout=2s"));
        String jar = System.getProperty("easykit.shop.jar");
        return jar == null
                ? ChildJvm.start(ShopApplication.class, arguments.toArray(String[]::new))
                : ChildJvm.startJar(Path.of(jar), arguments.toArray(String[]::new));
    }

    private static ShopClient clientOf(ChildJvm shop) {
        String line = shop.awaitLine(text -> PORT.matcher(text).find(), ChildJvm.START);
        Matcher port = PORT.matcher(line);
        assertThat(port.find()).isTrue();
        return new ShopClient(Integer.parseInt(port.group(1)));
    }
}
