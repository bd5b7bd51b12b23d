package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.admin.FleetAdmin;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.test.RedisServer;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.BaggageInScope;
import io.micrometer.tracing.Tracer;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.MDC;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

/** Spans of an application that traces with OpenTelemetry, as Spring Boot configures it. */
class TracingIntegrationTests {

    private final RedisServer server = RedisServer.shared();
    private @Nullable ConfigurableApplicationContext context;

    @BeforeEach
    void flush() {
        server.flush();
    }

    @AfterEach
    void close() {
        if (context != null) {
            context.close();
        }
    }

    private ConfigurableApplicationContext start(String... settings) {
        List<String> arguments = Stream.concat(
                        Stream.of(
                                "spring.data.redis.url=redis://" + server.host() + ":" + server.port(),
                                "delay-queue.command-timeout=10s",
                                "management.tracing.sampling.probability=1"),
                        Stream.of(settings))
                .map(setting -> "--" + setting)
                .toList();
        ConfigurableApplicationContext started =
                new SpringApplication(Application.class).run(arguments.toArray(String[]::new));
        context = started;
        return started;
    }

    /** Sends within a request, which is a span too. */
    private static void send(ConfigurableApplicationContext application, OutgoingMessage... messages) {
        Observation.createNotStarted("request", application.getBean(ObservationRegistry.class))
                .observe(() -> application.getBean(DelayQueueTemplate.class).sendAll(List.of(messages)));
    }

    private static List<SpanData> spans(ConfigurableApplicationContext application) {
        application.getBean(SdkTracerProvider.class).forceFlush().join(10, TimeUnit.SECONDS);
        return application.getBean(InMemorySpanExporter.class).getFinishedSpanItems();
    }

    private static List<SpanData> spans(ConfigurableApplicationContext application, String name) {
        return spans(application).stream()
                .filter(span -> span.getName().equals(name))
                .toList();
    }

    private static SpanData span(ConfigurableApplicationContext application, String name) {
        return await().until(() -> spans(application, name), found -> !found.isEmpty())
                .get(0);
    }

    private static @Nullable String attribute(SpanData span, String name) {
        return span.getAttributes().get(AttributeKey.stringKey(name));
    }

    @Test
    void aDeliveryIsATraceOfItsOwnThatIsLinkedToTheSend() {
        ConfigurableApplicationContext application = start();

        send(application, OutgoingMessage.of("orders", "good").id("1"));
        SpanData delivery = span(application, "process orders");
        SpanData send = span(application, "send orders");

        assertThat(send.getKind()).isEqualTo(SpanKind.PRODUCER);
        assertThat(send.getParentSpanId())
                .isEqualTo(span(application, "request").getSpanId());
        assertThat(attribute(send, "messaging.operation.name")).isEqualTo("send");
        assertThat(delivery.getKind()).isEqualTo(SpanKind.CONSUMER);
        assertThat(delivery.getParentSpanContext().isValid()).isFalse();
        assertThat(delivery.getTraceId()).isNotEqualTo(send.getTraceId());
        assertThat(delivery.getLinks()).singleElement().satisfies(link -> {
            assertThat(link.getSpanContext().getTraceId()).isEqualTo(send.getTraceId());
            assertThat(link.getSpanContext().getSpanId()).isEqualTo(send.getSpanId());
        });
        assertThat(attribute(delivery, "messaging.destination.name")).isEqualTo("orders");
        assertThat(attribute(delivery, "messaging.operation.name")).isEqualTo("process");
        assertThat(attribute(delivery, "messaging.message.id")).isEqualTo("1");
        assertThat(attribute(delivery, "delayqueue.attempt")).isEqualTo("1");
        assertThat(application.getBean(Orders.class).headers)
                .singleElement()
                .asString()
                .startsWith("00-" + send.getTraceId() + "-" + send.getSpanId() + "-0");
    }

    @Test
    void aDeliveryIsPartOfTheTraceOfTheSendIfItIsAChild() {
        ConfigurableApplicationContext application = start("delay-queue.tracing=child");

        send(application, OutgoingMessage.of("orders", "good"));
        SpanData delivery = span(application, "process orders");
        SpanData send = span(application, "send orders");

        assertThat(delivery.getKind()).isEqualTo(SpanKind.CONSUMER);
        assertThat(delivery.getTraceId()).isEqualTo(send.getTraceId());
        assertThat(delivery.getParentSpanId()).isEqualTo(send.getSpanId());
        assertThat(delivery.getLinks()).isEmpty();
    }

    @Test
    void aBatchIsOneSpanWithALinkToEachSend() {
        ConfigurableApplicationContext application = start("delay-queue.tracing=child");
        application.getBean(FleetAdmin.class).pause("batches", "test");
        IntStream.range(0, 3).forEach(i -> send(application, OutgoingMessage.of("batches", "b" + i)));
        application.getBean(FleetAdmin.class).resume("batches");
        SpanData batch = span(application, "process batches");

        assertThat(attribute(batch, "messaging.batch.message_count")).isEqualTo("3");
        List<String> sends = spans(application, "send batches").stream()
                .map(SpanData::getSpanId)
                .toList();
        assertThat(batch.getParentSpanContext().isValid()).isFalse();
        assertThat(batch.getLinks())
                .extracting(link -> link.getSpanContext().getSpanId())
                .containsExactlyInAnyOrderElementsOf(sends);
    }

    @Test
    void aFailureIsInItsSpan() {
        ConfigurableApplicationContext application = start();

        send(application, OutgoingMessage.of("orders", "bad"));
        await().until(() -> spans(application, "process orders").size() == 2);

        assertThat(spans(application, "process orders"))
                .extracting(span -> attribute(span, "delayqueue.attempt"))
                .containsExactly("1", "2");
        assertThat(spans(application, "process orders"))
                .extracting(span -> span.getStatus().getStatusCode())
                .containsOnly(StatusCode.ERROR);
    }

    @ParameterizedTest
    @ValueSource(strings = {"link", "child"})
    void theBaggageOfTheSendHoldsForTheDelivery(String tracing) {
        ConfigurableApplicationContext application = start(
                "delay-queue.tracing=" + tracing,
                "management.tracing.baggage.remote-fields=tenant",
                "management.tracing.baggage.correlation.fields=tenant");
        Tracer tracer = application.getBean(Tracer.class);

        Observation.createNotStarted("request", application.getBean(ObservationRegistry.class))
                .observe(() -> {
                    BaggageInScope tenant = tracer.createBaggageInScope("tenant", "acme");
                    application.getBean(DelayQueueTemplate.class).send(OutgoingMessage.of("orders", "relay"));
                    tenant.close();
                });

        Orders orders = application.getBean(Orders.class);
        await().until(() -> orders.baggage.size() == 2);
        assertThat(orders.baggage).containsExactly("relay acme acme", "relayed acme acme");
    }

    /** The scope of a delivery is opened again for work on another thread, as by Micrometer's context propagation. */
    @ParameterizedTest
    @ValueSource(strings = {"elsewhere", "nested"})
    void theBaggageOfADeliveryEndsWithIt(String payload) {
        ConfigurableApplicationContext application = start(
                "management.tracing.baggage.remote-fields=tenant",
                "management.tracing.baggage.correlation.fields=tenant");
        Tracer tracer = application.getBean(Tracer.class);
        Orders orders = application.getBean(Orders.class);

        Observation.createNotStarted("request", application.getBean(ObservationRegistry.class))
                .observe(() -> {
                    BaggageInScope tenant = tracer.createBaggageInScope("tenant", "acme");
                    application.getBean(DelayQueueTemplate.class).send(OutgoingMessage.of("orders", payload));
                    tenant.close();
                });
        await().until(() -> orders.baggage.size() == 1);
        send(application, OutgoingMessage.of("orders", "plain"));
        await().until(() -> orders.baggage.size() == 2);

        assertThat(orders.baggage).containsExactly(payload + " acme acme", "plain null null");
    }

    @Test
    void linesOfTheHandlerCarryTheTraceOfTheDelivery() {
        ConfigurableApplicationContext application = start();

        send(application, OutgoingMessage.of("orders", "bad"));
        await().until(() -> spans(application, "process orders").size() == 2);

        assertThat(application.getBean(Orders.class).traceIds)
                .containsExactlyElementsOf(spans(application, "process orders").stream()
                        .map(SpanData::getTraceId)
                        .toList())
                .doesNotHaveDuplicates();
        String sent = span(application, "send orders").getSpanId();
        assertThat(spans(application, "process orders")).allSatisfy(span -> assertThat(span.getLinks())
                .extracting(link -> link.getSpanContext().getSpanId())
                .containsExactly(sent));
    }

    @Test
    void looksForMessagesAreNoSpans() {
        ConfigurableApplicationContext application = start();

        send(application, OutgoingMessage.of("orders", "good"));
        span(application, "process orders");

        assertThat(spans(application))
                .extracting(SpanData::getName)
                .containsExactlyInAnyOrder("send orders", "request", "process orders");
    }

    @Test
    void thereIsNoSpanAndNoHeaderIfItIsOff() {
        ConfigurableApplicationContext application = start("delay-queue.tracing=off");

        send(application, OutgoingMessage.of("orders", "good"));
        await().until(() -> application.getBean(Orders.class).headers.size() == 1);

        assertThat(application.getBean(Orders.class).headers).containsExactly("none");
        assertThat(spans(application)).extracting(SpanData::getName).containsExactly("request");
    }

    @SpringBootConfiguration
    @EnableAutoConfiguration
    static class Application {

        @Bean
        InMemorySpanExporter exporter() {
            return InMemorySpanExporter.create();
        }

        @Bean
        Orders orders(Tracer tracer, DelayQueueTemplate template, ObservationRegistry observations) {
            return new Orders(tracer, template, observations);
        }

        @Bean
        Batches batches() {
            return new Batches();
        }
    }

    static class Orders {

        private final List<String> headers = new CopyOnWriteArrayList<>();
        private final List<String> traceIds = new CopyOnWriteArrayList<>();
        private final List<String> baggage = new CopyOnWriteArrayList<>();
        private final Tracer tracer;
        private final DelayQueueTemplate template;
        private final ObservationRegistry observations;

        Orders(Tracer tracer, DelayQueueTemplate template, ObservationRegistry observations) {
            this.tracer = tracer;
            this.template = template;
            this.observations = observations;
        }

        @DelayListener(topic = "orders", concurrency = "1", maxAttempts = "2", backOff = "1ms")
        void on(DelayMessage<String> message) {
            headers.add(message.headers().getOrDefault("traceparent", "none"));
            traceIds.add(String.valueOf(MDC.get("traceId")));
            baggage.add(message.payload() + " " + tracer.getAllBaggage().get("tenant") + " " + MDC.get("tenant"));
            if (message.payload().equals("relay")) {
                template.send(OutgoingMessage.of("orders", "relayed"));
            }
            Observation delivery = observations.getCurrentObservation();
            if (message.payload().equals("nested")) {
                Objects.requireNonNull(delivery).openScope().close();
            }
            if (message.payload().equals("elsewhere")) {
                CompletableFuture.runAsync(() ->
                                Objects.requireNonNull(delivery).openScope().close())
                        .join();
            }
            if (message.payload().equals("bad")) {
                throw new IllegalStateException("bad");
            }
        }
    }

    static class Batches {

        @DelayListener(topic = "batches", batchSize = "10")
        void on(List<String> messages) {}
    }
}
