package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.boot.AuditKeeper;
import io.easykit.cache.Availability;
import io.easykit.cache.EasyCache;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.test.RedisServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.actuate.audit.AuditEvent;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The endpoint over HTTP. */
class EasyCacheEndpointIntegrationTests {

    enum Stack {
        MVC(WebApplicationType.SERVLET),
        WEBFLUX(WebApplicationType.REACTIVE);

        private final WebApplicationType type;

        Stack(WebApplicationType type) {
            this.type = type;
        }
    }

    static class Products {

        final AtomicInteger loads = new AtomicInteger();

        @Cacheable(prefix = "product", keys = "#sku")
        public String product(String sku) {
            return "secret " + loads.incrementAndGet();
        }

        @Cacheable(prefix = "stock", keys = "#sku")
        public String stock(String sku) {
            return "secret " + loads.incrementAndGet();
        }

        @Cacheable(
                prefix = "price",
                keys = {"#id", "#currency"})
        public String price(long id, String currency) {
            return "secret " + loads.incrementAndGet();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        final List<AuditEvent> events = new CopyOnWriteArrayList<>();
        final List<Map<String, Object>> kept = new CopyOnWriteArrayList<>();

        @Bean
        Products products() {
            return new Products();
        }

        @Bean
        AuditKeeper keeper() {
            return entry -> kept.add(new LinkedHashMap<>(entry));
        }

        @EventListener
        void on(AuditApplicationEvent event) {
            events.add(event.getAuditEvent());
        }
    }

    private static final Map<Stack, ConfigurableApplicationContext> RUNNING = new EnumMap<>(Stack.class);

    /** All are closed at the end: the first server of WebFlux that closes ends the threads of the others. */
    private static final List<ConfigurableApplicationContext> STARTED = new ArrayList<>();

    private final HttpClient client = HttpClient.newHttpClient();

    @BeforeEach
    void flush() {
        RedisServer.shared().flush();
    }

    @AfterAll
    static void stop() {
        STARTED.forEach(ConfigurableApplicationContext::close);
        STARTED.clear();
        RUNNING.clear();
        RedisServer.shared().flush();
    }

    private static ConfigurableApplicationContext start(Stack stack, String... settings) {
        ConfigurableApplicationContext started = new SpringApplicationBuilder(Application.class)
                .properties(settings)
                .properties(
                        "server.port=0",
                        "spring.main.banner-mode=off",
                        "spring.data.redis.url=" + RedisServer.shared().uri(),
                        "easy-cache.command-timeout=10s",
                        "management.endpoints.web.exposure.include=easycache")
                .run("--spring.main.web-application-type=" + stack.type.name().toLowerCase(Locale.ROOT));
        STARTED.add(started);
        return started;
    }

    private static ConfigurableApplicationContext application(Stack stack) {
        return RUNNING.computeIfAbsent(
                stack, missing -> start(missing, "management.endpoint.easycache.access=unrestricted"));
    }

    private static Products products(Stack stack) {
        return application(stack).getBean(Products.class);
    }

    private static Availability availability(Stack stack) {
        return Objects.requireNonNull(
                application(stack).getBean(EasyCache.class).availability("default"));
    }

    private HttpResponse<String> send(
            ConfigurableApplicationContext application, String path, HttpRequest.Builder request)
            throws IOException, InterruptedException {
        int port = Objects.requireNonNull(((WebServerApplicationContext) application).getWebServer())
                .getPort();
        URI uri = URI.create("http://localhost:" + port + "/actuator/easycache" + path);
        return client.send(request.uri(uri).build(), HttpResponse.BodyHandlers.ofString());
    }

    private HttpResponse<String> get(Stack stack, String path) throws Exception {
        return send(application(stack), path, HttpRequest.newBuilder().GET());
    }

    private HttpResponse<String> post(Stack stack, String path, String body) throws Exception {
        return send(application(stack), path, posted("application/json", body));
    }

    private static HttpRequest.Builder posted(String type, String body) {
        return HttpRequest.newBuilder()
                .header("Content-Type", type)
                .POST(HttpRequest.BodyPublishers.ofString(body.replace('\'', '"')));
    }

    @ParameterizedTest
    @EnumSource
    void showsTheStateOfEachRedis(Stack stack) throws Exception {
        HttpResponse<String> shown = get(stack, "");
        assertThat(shown.statusCode()).isEqualTo(200);
        assertThat(shown.body()).contains("\"default\":{\"state\":\"available\",\"forced\":false,\"undelivered\":0");
    }

    @ParameterizedTest
    @EnumSource
    void showsTheCachesWithTheirSettingsAndNumbers(Stack stack) throws Exception {
        products(stack).price(7, "EUR");
        HttpResponse<String> shown = get(stack, "/caches?prefix=price");
        assertThat(shown.statusCode()).isEqualTo(200);
        assertThat(shown.body())
                .contains("\"source\":\"@Cacheable " + Products.class.getName() + ".price(long, String)\"")
                .contains("\"parts\":[\"#id\",\"#currency\"],\"types\":[\"long\",\"java.lang.String\"]")
                .contains("\"consistency\":\"ap\"", "\"not-stored\":0")
                .contains("{\"name\":\"ttl\",\"value\":\"10m\",\"source\":\"default\"}")
                .contains("\"worstStalenessSeconds\":1.5")
                .containsPattern("\"miss\":[1-9]")
                .doesNotContain("\"product\"", "secret");
        assertThat(get(stack, "/caches").body()).contains("\"prefix\":\"product\"");
    }

    @ParameterizedTest
    @EnumSource
    void explainsAnEntryAndShowsNoValue(Stack stack) throws Exception {
        products(stack).price(7, "EUR");
        HttpResponse<String> told = get(stack, "/explain?prefix=price&part=7&part=EUR");
        assertThat(told.statusCode()).isEqualTo(200);
        assertThat(told.body())
                .contains("\"key\":\"price::7:EUR\"", "\"state\":\"fresh\"", "Readers get the value.")
                .doesNotContain("secret");
        assertThat(get(stack, "/explain?key=price::7:EUR").body()).contains("\"state\":\"fresh\"");
        assertThat(get(stack, "/explain?cluster=default&prefix=price&part=8&part=EUR")
                        .body())
                .contains("\"state\":\"absent\"");
    }

    @ParameterizedTest
    @CsvSource({"MVC,'a,b'", "MVC,42", "MVC,a:b", "WEBFLUX,'a,b'", "WEBFLUX,42", "WEBFLUX,a:b"})
    void takesAPartAsItIsTyped(Stack stack, String sku) throws Exception {
        products(stack).product(sku);
        assertThat(get(stack, "/explain?prefix=product&part=" + sku).body()).contains("\"state\":\"fresh\"");
    }

    @ParameterizedTest
    @EnumSource
    void evictsAnEntry(Stack stack) throws Exception {
        Products products = products(stack);
        String first = products.product("42");
        String kept = products.product("43");
        HttpResponse<String> done = post(stack, "/evict", "{'prefix': 'product', 'part': '42'}");
        assertThat(done.statusCode()).isEqualTo(200);
        assertThat(done.body()).contains("\"key\":\"product::\\\\42\"", "\"acknowledged\":true");
        String second = products.product("42");
        assertThat(second).isNotEqualTo(first);
        assertThat(products.product("43")).isEqualTo(kept);

        post(stack, "/evict", "{'key': 'product::\\\\42'}");
        assertThat(products.product("42")).isNotEqualTo(second);
    }

    @ParameterizedTest
    @EnumSource
    void dropsAPrefix(Stack stack) throws Exception {
        Products products = products(stack);
        String first = products.stock("42");
        String kept = products.price(1, "EUR");
        HttpResponse<String> done = post(stack, "/drop", "{'prefix': 'stock'}");
        assertThat(done.statusCode()).isEqualTo(200);
        assertThat(done.body()).contains("\"prefix\":\"stock\"", "\"acknowledged\":true");
        assertThat(products.stock("42")).isNotEqualTo(first);
        assertThat(products.price(1, "EUR")).isEqualTo(kept);
    }

    @ParameterizedTest
    @EnumSource
    void forcesTheStateOfARedis(Stack stack) throws Exception {
        HttpResponse<String> done = post(stack, "/force", "{'cluster': 'default', 'state': 'unavailable'}");
        assertThat(done.statusCode()).isEqualTo(200);
        assertThat(done.body()).contains("\"state\":\"unavailable\",\"forced\":true");
        post(stack, "/force", "{'cluster': 'default', 'state': 'available'}");
        assertThat(availability(stack).state()).isEqualTo(Availability.State.AVAILABLE);
        assertThat(post(stack, "/force", "{'cluster': 'default', 'state': 'auto'}")
                        .body())
                .contains("\"forced\":false");
        await().until(() -> availability(stack).state() == Availability.State.AVAILABLE);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "/keys                              | 404 |                                | action | Use caches or explain.",
                "/explain                           | 400 |                                | action | 'prefix' and 'part', or 'key'",
                "/explain?prefix=product            | 400 |                                | action | 'prefix' and 'part', or 'key'",
                "/explain?prefix=prodcut&part=42    | 404 |                                | detail | Use one of [price, product, stock]",
                "/explain?prefix=price&part=7       | 400 |                                | detail | has the parts [#id, #currency]",
                "/explain?prefix=price&part=x&part=y| 400 |                                | detail | (#id) is not a Long",
                "/explain?prefix=price&part=7&part=EUR&cluster=trade | 404 |               | detail | on Redis cluster [default]",
                "/explain?key=price                 | 400 |                                | detail | as in user::42",
                "/evict                             | 400 | {}                             | action | 'prefix' and 'part', or 'key'",
                "/drop                              | 400 | {}                             | action | Name the 'prefix'",
                "/drop                              | 404 | {'prefix': 'prodcut'}          | detail | Use one of [price, product, stock]",
                "/force                             | 400 | {'state': 'auto'}              | action | Name the 'cluster', one of [default]",
                "/force                             | 400 | {'cluster': 'default'}         | action | available, unavailable or auto",
                "/force                             | 404 | {'cluster': 'trade', 'state': 'auto'} | detail | Use one of [default]",
                "/evict                             | 400 | {'prefix': 'product', 'part': null} | action | 'prefix' and 'part', or 'key'",
                "/default                           | 404 | {'state': 'auto'}              | action | Use evict, drop or force."
            })
    void namesTheRemedyOfABadRequest(String path, int status, String body, String where, String remedy)
            throws Exception {
        for (Stack stack : Stack.values()) {
            HttpResponse<String> refused = body == null ? get(stack, path) : post(stack, path, body);
            assertThat(refused.statusCode()).as(refused.body()).isEqualTo(status);
            assertThat(refused.headers().firstValue("Content-Type")).hasValue("application/problem+json");
            JsonNode problem = new JsonMapper().readTree(refused.body());
            assertThat(problem.get("status").asInt()).isEqualTo(status);
            assertThat(problem.get("detail").asString()).isNotEmpty();
            assertThat(problem.get("action").asString()).isNotEmpty();
            assertThat(problem.get(where).asString()).contains(remedy);
        }
    }

    @ParameterizedTest
    @EnumSource
    void recordsItsChanges(Stack stack) throws Exception {
        Application recorded = application(stack).getBean(Application.class);
        recorded.events.clear();
        recorded.kept.clear();

        post(stack, "/evict", "{'prefix': 'product', 'part': '42'}");
        post(stack, "/drop", "{'prefix': 'prodcut'}");
        post(stack, "/force", "{'cluster': 'default', 'state': 'auto'}");

        assertThat(recorded.events)
                .extracting(AuditEvent::getType)
                .containsExactly("EASYKIT_EVICT", "EASYKIT_DROP", "EASYKIT_FORCE");
        assertThat(recorded.events.get(0).getPrincipal()).isEqualTo("anonymous");
        assertThat(recorded.events.get(0).getData())
                .containsEntry("topic", "product")
                .containsEntry("ids", List.of("product::\\42"))
                .containsEntry("from", "actuator")
                .containsEntry("outcome", "done")
                .containsEntry("acknowledged", true);
        assertThat(recorded.events.get(1).getData()).containsEntry("outcome", "refused");
        assertThat(recorded.events.get(1).getData().get("why").toString()).contains("Use one of [price");
        assertThat(recorded.events.get(2).getData())
                .containsEntry("topic", "default")
                .containsEntry("filter", "auto");
        assertThat(recorded.kept)
                .extracting(entry -> entry.get("outcome"))
                .containsExactly("begun", "done", "begun", "refused", "begun", "done");
    }

    @ParameterizedTest
    @EnumSource
    void takesNoFormOfAnotherSite(Stack stack) throws Exception {
        String first = products(stack).product("42");
        for (String type : new String[] {"application/x-www-form-urlencoded", "text/plain"}) {
            assertThat(send(application(stack), "/drop?prefix=product", posted(type, "prefix=product"))
                            .statusCode())
                    .isEqualTo(415);
        }
        assertThat(products(stack).product("42")).isEqualTo(first);
    }

    @ParameterizedTest
    @EnumSource
    void changesNothingWithItsDefaultAccess(Stack stack) throws Exception {
        ConfigurableApplicationContext readOnly = start(stack);
        Products products = readOnly.getBean(Products.class);
        String first = products.product("42");
        for (String path : new String[] {"/evict", "/drop", "/force", "/default"}) {
            assertThat(send(readOnly, path, posted("application/json", "{'prefix': 'product', 'part': '42'}"))
                            .statusCode())
                    .isIn(404, 405);
        }
        assertThat(products.product("42")).isEqualTo(first);
        assertThat(send(readOnly, "/caches", HttpRequest.newBuilder().GET()).statusCode())
                .isEqualTo(200);
    }
}
