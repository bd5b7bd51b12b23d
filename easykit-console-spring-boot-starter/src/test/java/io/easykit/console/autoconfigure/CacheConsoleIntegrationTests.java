package io.easykit.console.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.boot.AuditKeeper;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.console.Audit;
import io.easykit.console.autoconfigure.Http.Reply;
import io.easykit.test.RedisServer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The API of the console with the cache alone. */
class CacheConsoleIntegrationTests {

    private static final RedisServer SERVER = RedisServer.start();
    private static final JsonMapper JSON = new JsonMapper();
    private static ConfigurableApplicationContext context;
    private static int port;

    static class Products {

        final AtomicInteger loads = new AtomicInteger();

        @Cacheable(prefix = "product", keys = "#id", ttl = "10m")
        public String name(long id) {
            return "product " + id + " " + loads.incrementAndGet();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        Products products() {
            return new Products();
        }
    }

    @BeforeAll
    static void start() {
        List<String> excluded = ConsoleSecurityContract.matching(List.of(".security.", "io.easykit.delayqueue"));
        context = new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.SERVLET)
                .properties(
                        "server.port=0",
                        "spring.main.banner-mode=off",
                        "spring.autoconfigure.exclude=" + String.join(",", excluded),
                        "easykit.console.open-to=loopback",
                        "easy-cache.command-timeout=10s",
                        "spring.data.redis.url=redis://" + SERVER.host() + ":" + SERVER.port())
                .run();
        port = context.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
    }

    @AfterAll
    static void stop() {
        context.close();
        SERVER.close();
    }

    private static JsonNode get(String call) {
        Reply reply = Http.to(port).get("/easykit/api/" + call);
        assertThat(reply.status()).as(reply.body()).isEqualTo(200);
        return JSON.readTree(reply.body());
    }

    private static Reply post(String call, Map<String, ?> body) {
        return Http.to(port).json(JSON.writeValueAsString(body)).post("/easykit/api/" + call);
    }

    private static String name(long id) {
        return context.getBean(Products.class).name(id);
    }

    /** So that its page shows changes through the actuator, too. */
    @Test
    void keepsTheAuditOfTheEndpoints() {
        assertThat(context.getBeanProvider(AuditKeeper.class).orderedStream().findFirst())
                .containsInstanceOf(Audit.class);
    }

    @Test
    void showsCachesAndClusters() {
        name(1);
        name(1);

        JsonNode reply = get("caches");

        assertThat(reply.get("clusters").get(0).get("state").asString()).isEqualTo("available");
        JsonNode cache = reply.get("caches").get(0);
        assertThat(cache.get("prefix").asString()).isEqualTo("product");
        assertThat(cache.get("consistency").asString()).isEqualTo("ap");
        JsonNode declaration = cache.get("declarations").get(0);
        assertThat(declaration.get("key").asString()).isEqualTo("product::{#id}");
        assertThat(declaration.get("parts").get(0).asString()).isEqualTo("#id");
        assertThat(declaration.get("types").get(0).asString()).isEqualTo("long");
        assertThat(declaration.get("source").asString()).contains("Products.name");
        assertThat(declaration.get("settings")).anySatisfy(setting -> assertThat(List.of(
                        setting.get("name").asString(), setting.get("value").asString()))
                .containsExactly("ttl", "10m"));
        assertThat(cache.get("reads").get("hit").asLong()).isPositive();
        assertThat(cache.get("loads").get("stored").asLong()).isPositive();
        assertThat(get("session").get("features").toString())
                .contains("caches", "explain")
                .doesNotContain("queues");
        assertThat(Http.to(port).get("/easykit/api/topics").status()).isEqualTo(404);
    }

    @Test
    void explainsAndEvictsAnEntry() {
        String loaded = name(2);
        JsonNode fresh = get("explain?cluster=default&prefix=product&part=2");
        assertThat(fresh.get("state").asString()).isEqualTo("fresh");
        assertThat(fresh.get("stateText").asString()).isEqualTo("FRESH");
        assertThat(fresh.get("kind").asString()).isEqualTo("fresh");
        assertThat(fresh.get("sentences")).isNotEmpty();
        assertThat(fresh.toString()).doesNotContain(loaded);

        Reply evicted = post("evict", Map.of("cluster", "default", "prefix", "product", "parts", List.of("2")));

        assertThat(evicted.status()).as(evicted.body()).isEqualTo(200);
        assertThat(JSON.readTree(evicted.body()).get("acknowledged").asBoolean())
                .isTrue();
        assertThat(get("explain?prefix=product&part=2").get("kind").asString()).isEqualTo("absent");
        assertThat(name(2)).isNotEqualTo(loaded);
        JsonNode audited = get("audit").get("entries").get(0);
        assertThat(audited.get("action").asString()).isEqualTo("evict");
        assertThat(audited.get("topic").asString()).isEqualTo("product");
    }

    @Test
    void dropsAPrefixOnlyWithItsName() {
        String loaded = name(3);
        assertThat(post("drop", Map.of("cluster", "default", "prefix", "product", "confirm", "products"))
                        .status())
                .isEqualTo(400);
        assertThat(name(3)).isEqualTo(loaded);

        assertThat(post("drop", Map.of("cluster", "default", "prefix", "product", "confirm", "product"))
                        .status())
                .isEqualTo(200);

        assertThat(name(3)).isNotEqualTo(loaded);
    }

    @Test
    void forcesTheStateOfAClusterOnThisNode() {
        assertThat(post("force", Map.of("cluster", "default", "state", "unavailable"))
                        .body())
                .contains("\"state\":\"unavailable\"");
        assertThat(get("caches").get("clusters").get(0).get("forced").asBoolean())
                .isTrue();

        assertThat(post("force", Map.of("cluster", "default", "state", "auto")).status())
                .isEqualTo(200);
        assertThat(get("caches").get("clusters").get(0).get("forced").asBoolean())
                .isFalse();
        await().until(() ->
                get("caches").get("clusters").get(0).get("state").asString().equals("available"));
    }

    /** A load balancer may pass it to another node than the one that the page has shown. */
    @Test
    void forcesNoStateOnAnotherNodeThanTheOneMeant() {
        String own = get("session").get("node").asString();
        Map<String, Object> change = Map.of("cluster", "default", "state", "unavailable", "node", "other-node");

        Reply reply = post("force", change);

        assertThat(reply.status()).isEqualTo(409);
        assertThat(reply.body()).contains(own + ", not other-node.");
        assertThat(get("caches").get("clusters").get(0).get("forced").asBoolean())
                .isFalse();
        assertThat(post("force", Map.of("cluster", "default", "state", "auto", "node", own))
                        .status())
                .isEqualTo(200);
    }

    @ParameterizedTest
    @CsvSource({
        "explain?prefix=other&part=1, 404",
        "explain?prefix=product&part=x, 400",
        "explain?prefix=product, 400",
        "explain?cluster=other&prefix=product&part=1, 404",
        "explain, 400"
    })
    void refusesWhatItDoesNotKnow(String call, int status) {
        Reply reply = Http.to(port).get("/easykit/api/" + call);

        assertThat(reply.status()).as(reply.body()).isEqualTo(status);
        assertThat(JSON.readTree(reply.body()).get("action").asString()).isNotBlank();
    }

    @Test
    void refusesAnUnknownClusterOrState() {
        assertThat(post("force", Map.of("cluster", "other", "state", "auto")).status())
                .isEqualTo(404);
        assertThat(post("force", Map.of("cluster", "default", "state", "maybe")).status())
                .isEqualTo(400);
        assertThat(post("evict", Map.of("prefix", "other", "parts", List.of("1")))
                        .status())
                .isEqualTo(404);
    }
}
