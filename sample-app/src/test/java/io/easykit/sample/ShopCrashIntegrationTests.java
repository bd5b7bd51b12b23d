package io.easykit.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.sample.ShopClient.Answer;
import io.easykit.test.ChildJvm;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** The shop in a separate process, ended in every way. */
@ExtendWith(OutputCaptureExtension.class)
class ShopCrashIntegrationTests {

    private static final Pattern PORT = Pattern.compile("Tomcat started on port (\\d+)");
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path dataDirectory;

    @Test
    void losesNothingAndClosesOrdersWhenItIsKilledAndWhenItIsStopped(CapturedOutput output) {
        Answer killed;
        try (ChildJvm first = start()) {
            ShopClient shop = clientOf(first);
            shop.put("/products/1", "{\"name\": \"Kept\", \"price\": 1}");
            shop.put("/stocks/SKU-1", "{\"quantity\": 7}");
            await().until(() -> isCached(shop, "/stocks/SKU-1") && isCached(shop, "/products/1"));
            killed = shop.post("/orders", "{\"productId\": 2, \"quantity\": 2}");
            first.kill();
        }
        Answer restarted;
        try (ChildJvm second = start()) {
            second.awaitLine(text -> text.contains("left behind by a killed shop"), ChildJvm.START);
            ShopClient shop = clientOf(second);
            assertThat(shop.get("/products/1").text("name")).isEqualTo("Kept");
            assertThat(shop.get("/stocks/SKU-1").number("quantity")).isEqualTo(7);
            assertThat(shop.stockLoads() + shop.productLoads())
                    .as("what was cached is still cached")
                    .isZero();
            refusesASecondShopOnItsData(output);
            restarted = shop.post("/orders", "{\"productId\": 3, \"quantity\": 3}");
            second.terminate();
            second.waitFor(PATIENCE);
        }
        assertThat(Instant.parse(restarted.text("expiresAt")))
                .as("its message waited over the restart")
                .isAfter(Instant.now());
        try (ChildJvm third = start()) {
            ShopClient shop = clientOf(third);
            assertThat(shop.get("/products/1").text("name")).isEqualTo("Kept");
            assertThat(shop.get("/stocks/SKU-1").number("quantity")).isEqualTo(7);
            await().atMost(PATIENCE).until(() -> Stream.of(killed, restarted)
                    .map(order -> shop.get("/orders/" + order.text("id")))
                    .allMatch(order -> order.text("status").equals("CLOSED")));
            assertThat(shop.get("/stocks/SKU-2").number("quantity")).isEqualTo(100);
            assertThat(shop.get("/stocks/SKU-3").number("quantity")).isEqualTo(100);
            third.terminate();
            third.waitFor(PATIENCE);
        }
    }

    private void refusesASecondShopOnItsData(CapturedOutput output) {
        SpringApplication shop = new SpringApplication(ShopApplication.class);
        // A context that was generated ahead of time is found by this class.
        shop.setMainApplicationClass(ShopApplication.class);
        assertThatThrownBy(() -> shop.run("--server.port=0", "--shop.data-dir=" + dataDirectory));
        assertThat(output.getAll()).contains("Another shop is running on this data directory", "--shop.data-dir=");
    }

    private static boolean isCached(ShopClient shop, String path) {
        long before = shop.stockLoads() + shop.productLoads();
        shop.get(path);
        return shop.stockLoads() + shop.productLoads() == before;
    }

    private ChildJvm start() {
        return ChildJvm.start(
                ShopApplication.class,
                "--server.port=0",
                "--shop.data-dir=" + dataDirectory,
                "--shop.payment-timeout=15s",
                // A busy machine may be slow to connect. That must not make reads bypass the cache here.
                "--easy-cache.command-timeout=" + PATIENCE.toSeconds() + "s",
                "--delay-queue.command-timeout=" + PATIENCE.toSeconds() + "s",
                "--delay-queue.outbox.lease=10m");
    }

    private static ShopClient clientOf(ChildJvm shop) {
        String line = shop.awaitLine(text -> PORT.matcher(text).find(), ChildJvm.START);
        Matcher port = PORT.matcher(line);
        assertThat(port.find()).isTrue();
        return new ShopClient(Integer.parseInt(port.group(1)));
    }
}
