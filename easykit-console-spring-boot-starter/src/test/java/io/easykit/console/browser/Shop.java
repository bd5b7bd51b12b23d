package io.easykit.console.browser;

import static org.awaitility.Awaitility.await;

import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.FleetAdmin;
import io.easykit.delayqueue.admin.MessageQuery;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.test.RedisServer;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** A small application with the console: topics, dead letters of three kinds, messages that run and wait, a cache. */
final class Shop implements AutoCloseable {

    /** Texts that would do harm as markup, or that look like something else. */
    static final String[] HOSTILE = {
        "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "سلام ٤٢", "订单-𠮷-😀", "a,b&c=d/e?#"
    };

    private final RedisServer redis = RedisServer.start();
    private final ConfigurableApplicationContext context;

    Shop() {
        context = new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.SERVLET)
                .properties(
                        "server.port=0",
                        "spring.main.banner-mode=off",
                        "spring.application.name=shop",
                        "spring.autoconfigure.exclude=" + String.join(",", ofSpringSecurity()),
                        "spring.data.redis.url=" + redis.uri(),
                        // A busy machine may be slow to connect.
                        "easy-cache.command-timeout=2s",
                        "easy-cache.external-prefixes=stock",
                        "delay-queue.command-timeout=2s",
                        "delay-queue.heartbeat-interval=1s",
                        "delay-queue.defaults.back-off.delay=1ms",
                        "delay-queue.defaults.alerts.dead=20",
                        "delay-queue.defaults.alerts.max-lateness=1s",
                        "delay-queue.topics.shipping.rate=600/min",
                        "delay-queue.topics.shipping.burst=5",
                        "delay-queue.topics.shipping.max-in-flight=2",
                        "easykit.console.open-to=loopback",
                        "easykit.console.edit=true",
                        "easykit.console.label=PROD",
                        "easykit.console.color=red",
                        "easykit.console.links[0].label=Staging",
                        "easykit.console.links[0].href=https://staging.example/easykit/")
                .run();
    }

    private static String[] ofSpringSecurity() {
        return ImportCandidates.load(AutoConfiguration.class, null).getCandidates().stream()
                .filter(name -> name.contains(".security."))
                .toArray(String[]::new);
    }

    /** Address of the console, with a slash at its end. */
    String console() {
        return "http://localhost:" + context.getEnvironment().getProperty("local.server.port") + "/easykit/";
    }

    /** All that the pages show. */
    void fill() {
        for (int i = 1; i <= 31; i++) {
            send("order-close", "close-" + (900 + i), "closed", Duration.ZERO);
            send("refunds", "refund-" + (900 + i), "closed", Duration.ZERO);
        }
        for (int i = 1; i <= 5; i++) {
            send("order-close", "close-" + (940 + i), "timeout", Duration.ZERO);
            send("order-close", "close-" + (950 + i), "database", Duration.ZERO);
        }
        for (String id : HOSTILE) {
            send("texts", id, "hostile", Duration.ZERO);
        }
        send("invoices", "invoice-1", "closed", Duration.ZERO);
        send("invoices", "invoice-2", "closed", Duration.ZERO);
        for (int i = 1; i <= 60; i++) {
            send("order-close", "wait-" + i, "closed", Duration.ofMinutes(i));
        }
        context.getBean(FleetAdmin.class).pause("mail", "ops");
        for (int i = 1; i <= 9; i++) {
            send("mail", "mail-" + i, "mail", Duration.ZERO);
        }
        for (int i = 1; i <= 3; i++) {
            sendChange("account-7", i);
            sendChange("account-8", i);
        }
        for (int i = 1; i <= 3; i++) {
            send("shipping", "ship-" + i, "ship", Duration.ZERO);
        }
        awaitDead("order-close", 41);
        awaitDead("refunds", 31);
        awaitDead("texts", HOSTILE.length);
        awaitDead("invoices", 2);
        awaitDead("accounts", 2);
        Products products = context.getBean(Products.class);
        for (int i = 0; i < 9; i++) {
            products.find(i % 3);
        }
        context.getBean(Brands.class).find(1);
        context.getBean(Stock.class).book(1);
        await().until(() -> !context.getBean(FleetAdmin.class).nodes().isEmpty());
    }

    private void awaitDead(String topic, int count) {
        await().atMost(Duration.ofSeconds(60)).until(() -> dead(topic) == count);
    }

    long dead(String topic) {
        return context.getBean(DelayQueueAdmin.class)
                .messages(topic, MessageQuery.of(State.DEAD))
                .total();
    }

    private void send(String topic, String id, String kind, Duration delay) {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("orderId", 9_007_199_254_740_993L);
        body.put("amount", new BigDecimal("1.10"));
        body.put("kind", kind);
        body.put("id", id);
        body.put("note", "<script>alert(2)</script> \u202Eevil 𠮷");
        if (topic.equals("order-close")) {
            body.put("password", "s3cret");
        }
        context.getBean(DelayQueueTemplate.class)
                .send(OutgoingMessage.of(topic, body)
                        .id(id)
                        .header("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
                        .header("<b>header</b>", "\"><script>alert(3)</script>")
                        .after(delay));
    }

    private void sendChange(String account, int number) {
        context.getBean(DelayQueueTemplate.class)
                .send(OutgoingMessage.of("accounts", Map.of("change", number)).orderingKey(account));
    }

    /** Adds dead letters with these ids to the topic "returns". */
    void addDead(String... ids) {
        int before = (int) dead("returns");
        for (String id : ids) {
            send("returns", id, "returned", Duration.ZERO);
        }
        awaitDead("returns", before + ids.length);
    }

    /** From now on no order fails. */
    void mend() {
        context.getBean(Application.class).failing = false;
    }

    void stopRedis() {
        redis.pause();
    }

    void startRedis() {
        redis.resume();
    }

    @Override
    public void close() {
        context.getBean(Application.class).shipped.countDown();
        context.close();
        redis.close();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        private final CountDownLatch shipped = new CountDownLatch(1);
        private final Set<Object> seen = ConcurrentHashMap.newKeySet();
        private volatile boolean failing = true;

        @DelayListener(topic = "order-close", concurrency = "4", maxAttempts = "2")
        void closeOrder(Map<String, Object> order) {
            fail(order);
        }

        @DelayListener(topic = "refunds", concurrency = "4", maxAttempts = "2")
        void refund(Map<String, Object> order) {
            fail(order);
        }

        @DelayListener(topic = "invoices", maxAttempts = "2")
        void invoice(Map<String, Object> order) {
            fail(order);
        }

        @DelayListener(topic = "returns", concurrency = "4", maxAttempts = "1")
        void takeBack(Map<String, Object> order) {
            throw new IllegalStateException("Nobody takes it back");
        }

        @DelayListener(topic = "texts", maxAttempts = "1")
        void text(Map<String, Object> order) {
            throw new IllegalStateException("<img src=x onerror=alert(4)> " + order.get("id") + " \u202E𠮷");
        }

        @DelayListener(topic = "accounts", maxAttempts = "1")
        void change(Map<String, Integer> account) {
            if (account.get("change") == 1) {
                throw new IllegalStateException("The account is closed");
            }
        }

        @DelayListener(topic = "mail")
        void mail(Map<String, Object> mail) {
            throw new IllegalStateException("The topic is paused: " + mail);
        }

        @DelayListener(topic = "shipping", concurrency = "4")
        void ship(Map<String, Object> order) throws InterruptedException {
            shipped.await();
        }

        private void fail(Map<String, Object> order) {
            if (!failing) {
                return;
            }
            boolean first = seen.add(order.get("id"));
            String kind = String.valueOf(order.get("kind"));
            if (kind.equals("timeout")) {
                throw new IllegalArgumentException("No reply of the payment service within 3000 ms");
            }
            if (kind.equals("database")) {
                throw new UnsupportedOperationException("Could not connect to <b>db-7</b>:5432");
            }
            throw new IllegalStateException("Order " + order.get("id") + " is " + (first ? "locked" : "closed"));
        }

        @Bean
        SanitizingFunction passwords() {
            return data -> data.getLowerCaseKey().contains("password") ? data.withSanitizedValue() : data;
        }

        @Bean
        Products products() {
            return new Products();
        }

        @Bean
        Brands brands() {
            return new Brands();
        }

        @Bean
        Stock stock() {
            return new Stock();
        }
    }

    /** Has a cached method. */
    static class Products {

        @Cacheable(prefix = "product", keys = "#id")
        public String find(int id) {
            return "product " + id;
        }
    }

    /** Has a cached method, whose prefix is the first of all. */
    static class Brands {

        @Cacheable(prefix = "brand", keys = "#id")
        public String find(int id) {
            return "brand " + id;
        }
    }

    /** Invalidates the entries of another application. */
    static class Stock {

        @UpdateCache(prefix = "stock", keys = "#id")
        public void book(int id) {
            // Another application reads its database.
        }
    }
}
