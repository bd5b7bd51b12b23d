package io.easykit.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.sample.ShopClient.Answer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import tools.jackson.databind.JsonNode;

/** Parcels of paid orders, at a carrier that refuses some calls. */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT)
class ParcelIntegrationTests {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    static Path dataDirectory;

    @LocalServerPort
    int port;

    @Autowired
    private DelayQueueAdmin queue;

    private ShopClient shop;

    @DynamicPropertySource
    static void settings(DynamicPropertyRegistry properties) {
        properties.add("shop.data-dir", dataDirectory::toString);
        properties.add("shop.payment-timeout", () -> "10m");
        // A busy machine must not make calls fail that the tests need.
        properties.add("delay-queue.command-timeout", () -> "3s");
    }

    @BeforeEach
    void connect() {
        shop = new ShopClient(port);
    }

    private String paidOrder(int product) {
        String id = shop.post("/orders", "{\"productId\": " + product + ", \"quantity\": 1}")
                .text("id");
        assertThat(shop.post("/orders/" + id + "/pay", "").status()).isEqualTo(200);
        return id;
    }

    private Answer parcelIn(String state, String order) {
        await().atMost(PATIENCE)
                .until(() -> shop.get("/parcels/" + order).text("state").equals(state));
        return shop.get("/parcels/" + order);
    }

    @Test
    void areBookedOnceEachAlthoughTheCarrierRefusesSomeCalls() {
        long before = shop.get("/carrier").number("refused");
        List<String> orders =
                IntStream.rangeClosed(1, 5).mapToObj(this::paidOrder).toList();

        assertThat(orders.stream().map(order -> parcelIn("BOOKED", order).text("number")))
                .doesNotHaveDuplicates();
        orders.forEach(this::assertMailsComeInOrder);
        assertThat(shop.get("/carrier").number("refused")).isGreaterThan(before);
    }

    private void assertMailsComeInOrder(String order) {
        String number = shop.get("/parcels/" + order).text("number");
        await().atMost(PATIENCE).until(() -> shop.get("/mails/" + order).body().size() == 2);
        assertThat(shop.get("/mails/" + order).body().valueStream().map(JsonNode::asString))
                .containsExactly("Your payment has arrived", "Parcel " + number + " is on its way");
    }

    /** Redis is away when the order is paid. */
    @Test
    void areOrderedWithoutRedis() {
        String id = shop.post("/orders", "{\"productId\": 6, \"quantity\": 1}").text("id");
        shop.put("/redis", "{\"running\": false}");
        assertThat(shop.post("/orders/" + id + "/pay", "").status()).isEqualTo(200);
        assertThat(shop.get("/parcels/" + id).text("state")).isEqualTo("WAITING");

        shop.put("/redis", "{\"running\": true}");

        parcelIn("BOOKED", id);
    }

    @Test
    void showTheReasonOfADeadLetterAndAreBookedWhenItIsRedriven() {
        shop.put("/carrier", "{\"open\": false}");
        String refused = paidOrder(7);

        assertThat(parcelIn("FAILED", refused).text("problem")).contains("403", "The account is closed");
        assertThat(shop.get("/parcels/failed").body()).hasSize(1);

        shop.put("/carrier", "{\"open\": true}");
        queue.redriveAll("parcel", 100);
        parcelIn("BOOKED", refused);
        assertThat(shop.get("/parcels/failed").body()).isEmpty();
    }
}
