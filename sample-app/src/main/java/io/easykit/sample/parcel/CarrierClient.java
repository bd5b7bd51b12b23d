package io.easykit.sample.parcel;

import java.net.http.HttpClient;
import java.time.Duration;
import java.util.Objects;
import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.core.env.Environment;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.stereotype.Component;
import org.springframework.web.client.RestClient;

/** Calls the carrier over HTTP. */
@Component
@RegisterReflectionForBinding(CarrierClient.Booking.class)
class CarrierClient {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private final RestClient http;
    private final Environment environment;
    private final String url;

    /** @param url address of the carrier; empty for the one that stands in for it, in this application */
    CarrierClient(Environment environment, @Value("${shop.carrier-url}") String url) {
        this.environment = environment;
        this.url = url;
        JdkClientHttpRequestFactory requests = new JdkClientHttpRequestFactory(
                HttpClient.newBuilder().connectTimeout(TIMEOUT).build());
        requests.setReadTimeout(TIMEOUT);
        this.http = RestClient.builder().requestFactory(requests).build();
    }

    /**
     * Books a parcel, or returns the number of an earlier booking of the same order.
     *
     * @return the carrier's number
     * @throws org.springframework.web.client.RestClientException if the carrier refuses, or cannot be reached
     */
    String book(String orderId) {
        Booking booking = http.post()
                .uri(address() + "/parcels/{order}", orderId)
                .retrieve()
                .body(Booking.class);
        return Objects.requireNonNull(booking).number();
    }

    /** The port is known when the web server has started. */
    private String address() {
        return url.isEmpty()
                ? "http://localhost:" + environment.getRequiredProperty("local.server.port") + "/carrier"
                : url;
    }

    record Booking(String number) {}
}
