package io.easykit.sample;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Uses a shop like a browser or a script. */
final class ShopClient {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final JsonMapper json = JsonMapper.builder().build();
    private final HttpClient http = HttpClient.newHttpClient();
    private final int port;

    ShopClient(int port) {
        this.port = port;
    }

    Answer get(String path) {
        return send(request(path).GET().build());
    }

    Answer put(String path, String body) {
        return send(withBody(path).PUT(BodyPublishers.ofString(body)).build());
    }

    Answer post(String path, String body) {
        return send(withBody(path).POST(BodyPublishers.ofString(body)).build());
    }

    CompletableFuture<Integer> statusOf(String path) {
        return http.sendAsync(request(path).GET().build(), BodyHandlers.discarding())
                .thenApply(HttpResponse::statusCode);
    }

    long productLoads() {
        return get("/stats").body().get("productLoads").asLong();
    }

    long stockLoads() {
        return get("/stats").body().get("stockLoads").asLong();
    }

    private HttpRequest.Builder withBody(String path) {
        return request(path).header("Content-Type", "application/json");
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
                .timeout(PATIENCE);
    }

    private Answer send(HttpRequest request) {
        try {
            HttpResponse<String> response = http.send(request, BodyHandlers.ofString());
            String body = response.body();
            return new Answer(response.statusCode(), body.isEmpty() ? json.nullNode() : json.readTree(body));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(stop);
        }
    }

    record Answer(int status, JsonNode body) {

        String text(String field) {
            return body.get(field).asString();
        }

        long number(String field) {
            return body.get(field).asLong();
        }
    }
}
