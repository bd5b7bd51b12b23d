package io.easykit.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.sample.ShopClient.Answer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
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
import tools.jackson.databind.JsonNode;

/** The page of the shop, and the paths that it calls. */
@SpringBootTest(
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = {"shop.payment-timeout=500ms", "management.endpoint.delayqueue.access=unrestricted"})
class ShopPageIntegrationTests {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    static Path dataDirectory;

    @LocalServerPort
    int port;

    private ShopClient shop;

    @DynamicPropertySource
    static void keepData(DynamicPropertyRegistry properties) {
        properties.add("shop.data-dir", dataDirectory::toString);
    }

    @BeforeEach
    void connect() {
        shop = new ShopClient(port);
    }

    private HttpResponse<String> raw(String path) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
                .build();
        return HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
    }

    private static String header(HttpResponse<?> response, String name) {
        return response.headers().firstValue(name).orElse("");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/shop.css", "/shop.js", "/icon.svg"})
    void servesThePageAndItsFilesWithAStrictPolicy(String path) throws Exception {
        HttpResponse<String> file = raw(path);

        assertThat(file.statusCode()).isEqualTo(200);
        assertThat(header(file, "Content-Security-Policy"))
                .contains("default-src 'none'", "script-src 'self'", "trusted-types 'none'")
                .doesNotContain("unsafe");
        assertThat(header(file, "X-Content-Type-Options")).isEqualTo("nosniff");
    }

    @Test
    void thePageHasNoScriptOfItsOwnAndTheScriptMakesNoMarkup() throws Exception {
        String page = raw("/").body();
        String script = raw("/shop.js").body();

        assertThat(page).doesNotContainPattern("<script(?![^>]*\\bsrc=)|<style|\\son[a-z]+=|\\sstyle=|https?:");
        assertThat(script).doesNotContainPattern("innerHTML|outerHTML|insertAdjacent|document\\.write|eval\\(|https?:");
    }

    @Test
    void theScriptUsesElementsThatThePageHas() throws Exception {
        String page = raw("/").body();

        List<String> used = new ArrayList<>();
        Pattern.compile("(?:\\bat|badge)\\('([a-z-]+)'")
                .matcher(raw("/shop.js").body())
                .results()
                .forEach(found -> used.add(found.group(1)));
        assertThat(used).isNotEmpty().allSatisfy(id -> assertThat(page).contains("id=\"" + id + "\""));
    }

    @Test
    void servesTheConsoleToThisMachine() throws Exception {
        assertThat(raw("/easykit/").statusCode()).isEqualTo(200);
        assertThat(raw("/easykit/api/topics").statusCode()).isEqualTo(200);
    }

    @Test
    void showsWhetherAProductCameFromTheCache() throws Exception {
        shop.put("/products/3", "{\"name\": \"Lamp\", \"price\": 19.90}");
        await().until(() -> header(raw("/products/3"), "X-Shop-Source").equals("database"));
        await().until(() -> header(raw("/products/3"), "X-Shop-Source").equals("cache"));

        assertThat(shop.get("/products").body()).extracting(JsonNode::asLong).contains(1L, 3L, 10L);
    }

    private List<String> orders(String fault, int count) {
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ids.add(order(fault).text("id"));
        }
        return ids;
    }

    /** On a busy machine a call of Redis may take longer than it may: then the client orders again. */
    private Answer order(String fault) {
        String order = "{\"productId\": 4, \"quantity\": 1, \"fault\": \"" + fault + "\"}";
        Answer answer =
                await().atMost(PATIENCE).until(() -> shop.post("/orders", order), given -> given.status() != 503);
        assertThat(answer.status()).isEqualTo(201);
        return answer;
    }

    private long dead() {
        return shop.get("/state").body().get("queue").get("dead").asLong();
    }

    private Map<String, Long> groups() {
        Map<String, Long> groups = new TreeMap<>();
        shop.get("/actuator/delayqueue/groups?topic=order-close")
                .body()
                .get("groups")
                .forEach(group -> groups.put(
                        group.get("type").asString(), group.get("count").asLong()));
        return groups;
    }

    @Test
    void makesDeadLettersOfThreeKindsThatCloseTheirOrdersOnceTheirCauseIsMended() {
        shop.put("/stocks/SKU-4", "{\"quantity\": 100}");
        String first = orders("WAREHOUSE", 20).get(0);
        orders("PRICING", 15);
        orders("CARRIER", 5);
        await().atMost(PATIENCE).until(() -> dead() == 40);

        assertThat(groups())
                .isEqualTo(Map.of(
                        "java.lang.IllegalStateException",
                        20L,
                        "java.lang.ArithmeticException",
                        15L,
                        "java.net.SocketTimeoutException",
                        5L));
        assertThat(shop.get("/orders/" + first).text("status")).isEqualTo("PENDING_PAYMENT");
        assertThat(shop.get("/orders").body().get(0).get("fault").asString()).isEqualTo("CARRIER");

        assertThat(List.of("WAREHOUSE", "PRICING", "CARRIER")).allSatisfy(fault -> assertThat(
                        shop.put("/faults/" + fault, "{\"broken\": false}").status())
                .isEqualTo(200));
        assertThat(shop.get("/faults").body().get("WAREHOUSE").asBoolean()).isFalse();
        shop.post("/actuator/delayqueue/redrive-all", "{\"topic\": \"order-close\", \"perSecond\": \"1000\"}");
        await().atMost(PATIENCE)
                .until(() -> shop.get("/orders/" + first).text("status").equals("CLOSED"));
        await().atMost(PATIENCE).until(() -> dead() == 0);
    }

    @Test
    void goesOnWithoutRedisAndRecovers() {
        shop.put("/stocks/SKU-5", "{\"quantity\": 10}");
        shop.get("/products/5");
        assertThat(shop.get("/redis").body().get("running").asBoolean()).isTrue();

        assertThat(shop.put("/redis", "{\"running\": false}")
                        .body()
                        .get("running")
                        .asBoolean())
                .isFalse();
        await().until(() -> shop.get("/state").body().get("queue").isNull());
        assertThat(shop.get("/products/5").status()).isEqualTo(200);
        assertThat(shop.put("/products/5", "{\"name\": \"New\", \"price\": 5}").status())
                .isEqualTo(200);
        assertThat(shop.post("/orders", "{\"productId\": 5, \"quantity\": 1}").status())
                .isEqualTo(503);

        assertThat(shop.put("/redis", "{\"running\": true}")
                        .body()
                        .get("running")
                        .asBoolean())
                .isTrue();
        await().atMost(PATIENCE)
                .until(() -> shop.post("/orders", "{\"productId\": 5, \"quantity\": 1}")
                                .status()
                        == 201);
        await().atMost(PATIENCE).until(() -> shop.get("/state")
                .body()
                .get("cache")
                .get("state")
                .asString()
                .equals("AVAILABLE"));
        await().until(() -> shop.get("/products/5").text("name").equals("New"));
    }

    @Test
    void refusesChangesThatAFormOfAnotherPageCouldSend() throws Exception {
        HttpRequest form = HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/redis"))
                .header("Content-Type", "text/plain")
                .PUT(HttpRequest.BodyPublishers.ofString("{\"running\": false}"))
                .build();

        assertThat(HttpClient.newHttpClient()
                        .send(form, BodyHandlers.discarding())
                        .statusCode())
                .isEqualTo(415);
        assertThat(shop.get("/redis").body().get("running").asBoolean()).isTrue();
    }
}
