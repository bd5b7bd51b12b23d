package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.DelayQueueListener;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.ErrorAction;
import io.easykit.delayqueue.ErrorHandler;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.test.RedisServer;
import io.easykit.test.StartFailure;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpHeaders;
import org.springframework.web.client.HttpClientErrorException;
import org.springframework.web.client.ResourceAccessException;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestClientResponseException;

/** Error handlers of an application, with the example of {@code docs/delay-queue/listeners.md}. */
class ErrorHandlerIntegrationTests {

    private final Partner partner = new Partner();
    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withUserConfiguration(Application.class)
            .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
            .withPropertyValues(
                    "spring.data.redis.url=" + RedisServer.shared().uri(), "delay-queue.command-timeout=2s");

    @BeforeEach
    void emptyRedis() {
        RedisServer.shared().flush();
    }

    @AfterEach
    void close() {
        partner.server.stop(0);
    }

    @Test
    void waitsAsLongAsThePartnerAsksFor() {
        example().run(context -> {
            context.getBean(DelayQueueTemplate.class).send("charge", "order-1", Duration.ZERO);

            await().untilAsserted(() -> assertThat(partner.calls).hasValue(2));
            assertThat(context.getBean(Failures.class).all)
                    .singleElement()
                    .satisfies(failed -> assertThat(failed.retryAfter()).isEqualTo(Duration.ofSeconds(1)));
        });
    }

    @Test
    void discardsAndBuriesByTheTypeOfTheException() {
        example().run(context -> {
            DelayQueueTemplate template = context.getBean(DelayQueueTemplate.class);
            template.send("charge", "gone", Duration.ZERO);
            template.send("charge", "expired", Duration.ZERO);

            await().untilAsserted(() -> assertThat(context.getBean(MeterRegistry.class)
                            .get("delayqueue.deliveries")
                            .tags("topic", "charge", "result", "discarded")
                            .counter()
                            .count())
                    .isEqualTo(1));
            await().untilAsserted(() -> assertThat(
                            context.getBean(DelayQueueAdmin.class).stats("charge"))
                    .satisfies(all -> {
                        assertThat(all.dead()).isEqualTo(1);
                        assertThat(all.waiting() + all.inFlight()).isZero();
                    }));
        });
    }

    @Test
    void usesTheHandlerThatAListenerNames() {
        runner.withUserConfiguration(Named.class).run(context -> {
            Own own = context.getBean(Own.class);
            DelayQueueTemplate template = context.getBean(DelayQueueTemplate.class);
            template.send("common", "x", Duration.ZERO);
            template.send("own", "x", Duration.ZERO);

            await().untilAsserted(() -> assertThat(own.asked).containsExactlyInAnyOrder("all common", "named own"));
        });
    }

    @Test
    void takesAHandlerThatDependsOnTheListener() {
        runner.withBean(Own.class).withUserConfiguration(Dependent.class).run(context -> {
            context.getBean(DelayQueueTemplate.class).send("common", "x", Duration.ZERO);

            await().untilAsserted(
                            () -> assertThat(context.getBean(Own.class).asked).containsExactly("dependent common"));
        });
    }

    @Test
    void refusesANameWithoutAnErrorHandler() {
        runner.withBean("orders", Unknown.class).withBean("text", String.class).run(context -> assertThat(context)
                .getFailure()
                .satisfies(failure -> assertThat(StartFailure.analysis(failure)).satisfies(analysis -> {
                    assertThat(analysis.getDescription())
                            .contains(
                                    "bean 'orders': its errorHandler is 'missing', and there is no bean of that name.")
                            .contains("its errorHandler is 'text', and the bean of that name is no ErrorHandler.");
                    assertThat(analysis.getAction())
                            .contains("Give the name of a bean of type io.easykit.delayqueue.ErrorHandler.");
                })));
    }

    @Test
    void refusesSeveralHandlersForTheListenersThatNameNone() {
        runner.withBean("one", ErrorHandler.class, () -> ErrorHandler.NONE)
                .withBean("two", ErrorHandler.class, () -> ErrorHandler.NONE)
                .run(context -> assertThat(context).getFailure().satisfies(failure -> assertThat(
                                StartFailure.analysis(failure))
                        .satisfies(analysis -> {
                            assertThat(analysis.getDescription()).contains("[one, two]");
                            assertThat(analysis.getAction())
                                    .contains("@Primary")
                                    .contains("@Bean(defaultCandidate = false)");
                        })));
    }

    private ApplicationContextRunner example() {
        return runner.withUserConfiguration(Example.class)
                .withBean(Failures.class)
                .withBean(Charges.class, () -> new Charges(partner.client()));
    }

    @Configuration(proxyBeanMethods = false)
    @EnableQueueAndDatabase
    static class Application {}

    @Configuration(proxyBeanMethods = false)
    static class Example {

        @Bean
        ErrorHandler errors() {
            return ErrorHandler.byType()
                    .on(HttpClientErrorException.TooManyRequests.class, Example::retryAfter)
                    .on(
                            ResourceAccessException.class,
                            ErrorAction.retry(
                                    RetryPolicy.exponential(20, Duration.ofSeconds(5), Duration.ofMinutes(10))))
                    .on(CardExpiredException.class, ErrorAction.dead())
                    .on(OrderGoneException.class, ErrorAction.discard())
                    .build();
        }

        private static ErrorAction retryAfter(RestClientResponseException error) {
            HttpHeaders headers = error.getResponseHeaders();
            String header = headers == null ? null : headers.getFirst(HttpHeaders.RETRY_AFTER);
            return ErrorAction.retryAfterHeader(header, Instant.now(), Duration.ofHours(1));
        }
    }

    static final class Charges {

        private final RestClient partner;

        Charges(RestClient partner) {
            this.partner = partner;
        }

        @DelayListener(topic = "charge")
        void charge(String order) {
            switch (order) {
                case "gone" -> throw new OrderGoneException();
                case "expired" -> throw new IllegalStateException(new CardExpiredException());
                default -> partner.post().uri("/charges").body(order).retrieve().toBodilessEntity();
            }
        }
    }

    static final class CardExpiredException extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    static final class OrderGoneException extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    static final class Failures implements DelayQueueListener {

        final List<DelayQueueEvent.Failed> all = new CopyOnWriteArrayList<>();

        @Override
        public void onFailed(DelayQueueEvent.Failed event) {
            all.add(event);
        }
    }

    /** Refuses the first call, and asks for a second of patience. */
    private static final class Partner {

        private final AtomicInteger calls = new AtomicInteger();
        private final HttpServer server;

        Partner() {
            try {
                server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
            server.createContext("/charges", exchange -> {
                boolean refused = calls.incrementAndGet() == 1;
                if (refused) {
                    exchange.getResponseHeaders().add("Retry-After", "1");
                }
                exchange.sendResponseHeaders(refused ? 429 : 204, -1);
                exchange.close();
            });
            server.start();
        }

        RestClient client() {
            return RestClient.create("http://localhost:" + server.getAddress().getPort());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Named {

        @Bean
        Own own() {
            return new Own();
        }

        @Bean
        ErrorHandler all(Own own) {
            return own.handler("all");
        }

        @Bean(defaultCandidate = false)
        ErrorHandler named(Own own) {
            return own.handler("named");
        }

        @Bean
        OwnHandler ownHandler() {
            return new OwnHandler();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Dependent {

        @Bean
        ErrorHandler dependent(Own own) {
            return own.handler("dependent");
        }
    }

    static final class Own {

        final List<String> asked = new CopyOnWriteArrayList<>();

        ErrorHandler handler(String name) {
            return (message, error) -> {
                asked.add(name + " " + message.topic());
                return ErrorAction.discard();
            };
        }

        @DelayListener(topic = "common")
        void common(DelayMessage<String> message) {
            message.acknowledgment().fail(new IllegalStateException());
        }
    }

    static final class OwnHandler {

        @DelayListener(topic = "own", errorHandler = "${own.handler:named}")
        void own(DelayMessage<String> message) {
            message.acknowledgment().fail(new IllegalStateException());
        }
    }

    static final class Unknown {

        @DelayListener(topic = "one", errorHandler = "missing")
        void one(String message) {}

        @DelayListener(topic = "two", errorHandler = "text")
        void two(String message) {}
    }
}
