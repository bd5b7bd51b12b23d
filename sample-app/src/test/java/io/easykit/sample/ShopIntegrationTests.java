package io.easykit.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** The shop over HTTP, on its embedded Redis and database. */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT)
class ShopIntegrationTests {

    @TempDir
    static Path dataDirectory;

    @LocalServerPort
    int port;

    private ShopClient shop;

    @DynamicPropertySource
    static void keepData(DynamicPropertyRegistry properties) {
        properties.add("shop.data-dir", dataDirectory::toString);
        properties.add("easy-cache.command-timeout", () -> "60s");
    }

    @BeforeEach
    void connect() {
        shop = new ShopClient(port);
    }

    @Test
    void hasTenProductsAndTenStocksAtTheFirstStart() {
        assertThat(IntStream.rangeClosed(1, 10))
                .allSatisfy(
                        id -> assertThat(shop.get("/products/" + id).status()).isEqualTo(200))
                .allSatisfy(
                        id -> assertThat(shop.get("/stocks/SKU-" + id).status()).isEqualTo(200));
        assertThat(shop.get("/products/10").text("name")).isEqualTo("Product 10");
    }

    @Test
    void loadsAProductOnceForAHundredConcurrentReaders() {
        shop.put("/products/21", "{\"name\": \"Lamp\", \"price\": 21.00}");
        long before = shop.productLoads();
        List<CompletableFuture<Integer>> reads = IntStream.range(0, 100)
                .mapToObj(any -> shop.statusOf("/products/21"))
                .toList();
        assertThat(reads).allSatisfy(read -> assertThat(read.join()).isEqualTo(200));
        assertThat(shop.productLoads() - before).isEqualTo(1);
    }

    @Test
    void mayReturnTheOldProductForAMomentAndThenNeverAgainAtTheCostOfOneLoad() {
        shop.put("/products/22", "{\"name\": \"Old\", \"price\": 1}");
        assertThat(shop.get("/products/22").text("name")).isEqualTo("Old");
        long before = shop.productLoads();
        shop.put("/products/22", "{\"name\": \"New\", \"price\": 1}");
        await().until(() -> shop.get("/products/22").text("name").equals("New"));
        assertThat(IntStream.range(0, 50))
                .allSatisfy(
                        any -> assertThat(shop.get("/products/22").text("name")).isEqualTo("New"));
        assertThat(shop.productLoads() - before).isEqualTo(1);
    }

    /** The same entry as that of the blocking page. */
    @Test
    void returnsAProductWithoutAThreadOfTheServerThatWaits() {
        shop.put("/products/41", "{\"name\": \"Lamp\", \"price\": 41.00}");
        long before = shop.productLoads();
        assertThat(shop.get("/products/41/async").text("name")).isEqualTo("Lamp");
        assertThat(shop.get("/products/41").text("name")).isEqualTo("Lamp");
        assertThat(shop.get("/products/41/async").status()).isEqualTo(200);
        assertThat(shop.productLoads() - before).isEqualTo(1);
        assertThat(shop.get("/products/4041/async").status()).isEqualTo(404);

        shop.put("/products/41", "{\"name\": \"Lantern\", \"price\": 41.00}");
        await().until(() -> shop.get("/products/41/async").text("name").equals("Lantern"));
    }

    @Test
    void loadsSeveralProductsByOneQuery() {
        for (int id = 31; id <= 33; id++) {
            shop.put("/products/" + id, "{\"name\": \"Lamp " + id + "\", \"price\": 1}");
        }
        shop.get("/products/32");
        long before = shop.productLoads();
        for (int i = 0; i < 2; i++) {
            ShopClient.Answer found = shop.get("/products?ids=33,32,31,33,4040");
            assertThat(found.status()).isEqualTo(200);
            assertThat(found.body().findValuesAsString("name")).containsExactly("Lamp 33", "Lamp 32", "Lamp 31");
        }
        assertThat(shop.get("/products/4040").status()).isEqualTo(404);
        assertThat(shop.productLoads() - before).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"1,2,", "1,,2", ","})
    void refusesAnEmptyIdAmongSeveral(String ids) {
        ShopClient.Answer refused = shop.get("/products?ids=" + ids);
        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused.text("detail")).contains("ids must not be null");
    }

    @Test
    void returnsNoProductsForNoIds() {
        ShopClient.Answer found = shop.get("/products?ids=");
        assertThat(found.status()).isEqualTo(200);
        assertThat(found.body().isEmpty()).isTrue();
    }

    @Test
    void neverReturnsTheOldStockAfterAnUpdate() {
        for (int quantity = 0; quantity < 50; quantity++) {
            shop.put("/stocks/SKU-2", "{\"quantity\": " + quantity + "}");
            assertThat(shop.get("/stocks/SKU-2").number("quantity")).isEqualTo(quantity);
        }
    }

    @Test
    void takesNoMoreThanThereIs() {
        shop.put("/stocks/SKU-3", "{\"quantity\": 10}");
        Executor threads = task -> new Thread(task).start();
        List<CompletableFuture<ShopClient.Answer>> takings = IntStream.range(0, 30)
                .mapToObj(any -> CompletableFuture.supplyAsync(
                        () -> shop.post("/stocks/SKU-3/take", "{\"quantity\": 1}"), threads))
                .toList();
        List<ShopClient.Answer> answers =
                takings.stream().map(CompletableFuture::join).toList();
        assertThat(answers)
                .filteredOn(answer -> answer.status() == 200)
                .extracting(answer -> answer.number("quantity"))
                .containsExactlyInAnyOrder(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L);
        assertThat(answers).filteredOn(answer -> answer.status() == 409).hasSize(20);
        assertThat(shop.get("/stocks/SKU-3").number("quantity")).isZero();
        assertThat(shop.post("/stocks/SKU-3/take", "{\"quantity\": 2}").text("detail"))
                .startsWith("There are no 2 of SKU-3 left");
        shop.put("/stocks/SKU-3", "{\"quantity\": 5}");
        assertThat(shop.post("/stocks/SKU-3/take", "{\"quantity\": 2}").number("quantity"))
                .isEqualTo(3);
        assertThat(turnsOfStocks()).isGreaterThan(30);
    }

    /** A second turn could time out after the pieces were taken, and would see what later calls took. */
    @Test
    void takesInOneTurn() {
        shop.put("/stocks/SKU-4", "{\"quantity\": 10}");
        long before = turnsOfStocks();
        assertThat(shop.post("/stocks/SKU-4/take", "{\"quantity\": 4}").number("quantity"))
                .isEqualTo(6);
        assertThat(turnsOfStocks()).isEqualTo(before + 1);
    }

    /** How often a read or change of a stock waited for its turn: {@code serial: true} of the cache. */
    private long turnsOfStocks() {
        return shop.get("/actuator/metrics/easycache.turns?tag=prefix:stock")
                .body()
                .at("/measurements/0/value")
                .asLong();
    }

    @Test
    void takesNothingOfAnUnknownArticle() {
        assertThat(shop.post("/stocks/NONE/take", "{\"quantity\": 1}").status()).isEqualTo(404);
        assertThat(shop.get("/stocks/NONE").status()).isEqualTo(404);
    }

    @Test
    void remembersThatThereIsNothingUntilThereIs() {
        assertThat(shop.get("/products/404").status()).isEqualTo(404);
        long before = shop.productLoads();
        assertThat(shop.get("/products/404").status()).isEqualTo(404);
        assertThat(shop.productLoads()).isEqualTo(before);
        shop.put("/products/404", "{\"name\": \"Found\", \"price\": 4.04}");
        await().until(() -> shop.get("/products/404").status() == 200);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/products/one  | {\"name\": \"A\", \"price\": 1}",
                "/products/1    | {\"name\": \" \", \"price\": 1}",
                "/products/1    | {\"name\": \"A\", \"price\": -1}",
                "/products/1    | {\"name\": \"A\"}",
                "/products/1    | {\"name\": \"A\", \"price\": 1.001}",
                "/products/1    | {\"name\": \"A\", \"price\": 1, \"colour\": \"red\"}",
                "/products/1    | nonsense",
                "/stocks/SKU-1  | {\"quantity\": -1}",
                "/stocks/SKU-1  | {\"quantity\": 1.5}",
                "/stocks/SKU-1  | {}"
            })
    void refusesWhatMakesNoSense(String path, String body) {
        assertThat(shop.put(path, body).status()).isEqualTo(400);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/products/1    | {\"name\": \"A\", \"price\": \"much\"} | price",
                "/products/1    | {\"name\": \"A\", \"price\": 1, \"colour\": 1} | colour",
                "/stocks/SKU-1  | {\"quantity\": 1.5} | quantity",
                "/stocks/SKU-1  | {\"quantity\": -1} | quantity must be greater than or equal to 0",
                "/stocks/SKU-1  | nonsense | JSON",
                "/stocks/SKU-1234567890123456789012345678901234567890123456789012345678 | {\"quantity\": 1} | sku size"
            })
    void saysWhatIsWrong(String path, String body, String says) {
        assertThat(shop.put(path, body).text("detail")).contains(says);
    }
}
