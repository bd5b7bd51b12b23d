package io.easykit.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.sample.ShopClient.Answer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** Orders over HTTP: reserved, paid, or closed by a delayed message. */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT)
class OrderIntegrationTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    @TempDir
    static Path dataDirectory;

    @LocalServerPort
    int port;

    private ShopClient shop;

    @DynamicPropertySource
    static void settings(DynamicPropertyRegistry properties) {
        properties.add("shop.data-dir", dataDirectory::toString);
        properties.add("shop.payment-timeout", () -> TIMEOUT.toSeconds() + "s");
        properties.add("easy-cache.command-timeout", () -> "60s");
        properties.add("delay-queue.command-timeout", () -> "60s");
        properties.add("delay-queue.outbox.lease", () -> "10m");
    }

    @BeforeEach
    void connect() {
        shop = new ShopClient(port);
    }

    @Test
    void closesAnUnpaidOrderInTimeAndReturnsItsStock() {
        shop.put("/stocks/SKU-1", "{\"quantity\": 10}");
        Instant before = Instant.now();
        Answer order = shop.post("/orders", "{\"productId\": 1, \"quantity\": 3}");
        assertThat(order.status()).isEqualTo(201);
        assertThat(order.text("status")).isEqualTo("PENDING_PAYMENT");
        assertThat(Instant.parse(order.text("expiresAt"))).isAfterOrEqualTo(before.plus(TIMEOUT.minusMillis(1)));
        assertThat(shop.get("/stocks/SKU-1").number("quantity")).isEqualTo(7);
        await().atMost(Duration.ofSeconds(30))
                .until(() ->
                        shop.get("/orders/" + order.text("id")).text("status").equals("CLOSED"));
        assertThat(Instant.now()).isAfterOrEqualTo(before.plus(TIMEOUT));
        assertThat(shop.get("/stocks/SKU-1").number("quantity")).isEqualTo(10);
        assertThat(shop.post("/orders/" + order.text("id") + "/pay", "").status())
                .isEqualTo(409);
    }

    @Test
    void takesBackWhatWasReservedAlthoughTheStockWasFilledToTheBrimMeanwhile() {
        shop.put("/stocks/SKU-4", "{\"quantity\": 10}");
        Answer order = shop.post("/orders", "{\"productId\": 4, \"quantity\": 5}");
        assertThat(shop.put("/stocks/SKU-4", "{\"quantity\": 2147483647}").status())
                .isEqualTo(200);
        await().atMost(Duration.ofSeconds(30))
                .until(() ->
                        shop.get("/orders/" + order.text("id")).text("status").equals("CLOSED"));
        assertThat(shop.get("/stocks/SKU-4").number("quantity")).isEqualTo(2147483652L);
    }

    @Test
    void keepsTheStockOfAPaidOrder() {
        shop.put("/stocks/SKU-2", "{\"quantity\": 10}");
        Answer paid = shop.post("/orders", "{\"productId\": 2, \"quantity\": 4}");
        assertThat(shop.post("/orders/" + paid.text("id") + "/pay", "").text("status"))
                .isEqualTo("PAID");
        Answer later = shop.post("/orders", "{\"productId\": 2, \"quantity\": 1}");
        await().atMost(Duration.ofSeconds(30))
                .until(() ->
                        shop.get("/orders/" + later.text("id")).text("status").equals("CLOSED"));
        assertThat(shop.get("/orders/" + paid.text("id")).text("status")).isEqualTo("PAID");
        assertThat(shop.get("/stocks/SKU-2").number("quantity")).isEqualTo(6);
        assertThat(shop.post("/orders/" + paid.text("id") + "/pay", "").status())
                .as("paying twice is no error")
                .isEqualTo(200);
    }

    @Test
    void refusesWhatIsNotThere() {
        shop.put("/stocks/SKU-3", "{\"quantity\": 2}");
        assertThat(shop.post("/orders", "{\"productId\": 3, \"quantity\": 3}").status())
                .isEqualTo(409);
        assertThat(shop.get("/stocks/SKU-3").number("quantity")).isEqualTo(2);
        assertThat(shop.post("/orders", "{\"productId\": 333, \"quantity\": 1}").status())
                .isEqualTo(409);
        assertThat(shop.get("/orders/unknown").status()).isEqualTo(404);
        assertThat(shop.post("/orders/unknown/pay", "").status()).isEqualTo(404);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"productId\": 1}",
                "{\"productId\": 1, \"quantity\": 0}",
                "{\"productId\": 1, \"quantity\": -1}",
                "{\"quantity\": 1}",
                "nonsense"
            })
    void refusesWhatMakesNoSense(String body) {
        assertThat(shop.post("/orders", body).status()).isEqualTo(400);
    }

    @Test
    void saysWhatIsWrongWithAnOrder() {
        assertThat(shop.post("/orders", "{\"quantity\": 0}")
                        .body()
                        .get("detail")
                        .asString())
                .isEqualTo("productId must not be null, quantity must be greater than 0");
    }
}
