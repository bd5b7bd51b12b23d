package io.easykit.console.browser;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A proxy that serves another server below a prefix, and strips it. It changes the Host and adds no header. */
final class PrefixProxy implements AutoCloseable {

    private static final String PREFIX = "/ops/shop";
    private static final Set<String> OF_THE_CONNECTION =
            Set.of("host", "connection", "content-length", "transfer-encoding", "upgrade", "expect");

    private final HttpServer server;
    private final ExecutorService threads = Executors.newFixedThreadPool(4);
    private final HttpClient client = HttpClient.newHttpClient();
    private final URI target;

    PrefixProxy(URI target) {
        this.target = target;
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.createContext(PREFIX, this::forward);
        server.setExecutor(threads);
        server.start();
    }

    /** Address of the other server behind the proxy, without a slash at its end. */
    String address() {
        return "http://localhost:" + server.getAddress().getPort() + PREFIX;
    }

    private void forward(HttpExchange exchange) throws IOException {
        HttpRequest.Builder request = HttpRequest.newBuilder(
                        target.resolve(exchange.getRequestURI().toString().substring(PREFIX.length())))
                .method(
                        exchange.getRequestMethod(),
                        BodyPublishers.ofByteArray(exchange.getRequestBody().readAllBytes()));
        exchange.getRequestHeaders().forEach((name, values) -> {
            if (!OF_THE_CONNECTION.contains(name.toLowerCase(Locale.ROOT))) {
                values.forEach(value -> request.header(name, value));
            }
        });
        try {
            HttpResponse<byte[]> reply = client.send(request.build(), BodyHandlers.ofByteArray());
            reply.headers().map().forEach((name, values) -> {
                if (!OF_THE_CONNECTION.contains(name.toLowerCase(Locale.ROOT))) {
                    exchange.getResponseHeaders().put(name, values);
                }
            });
            exchange.sendResponseHeaders(reply.statusCode(), reply.body().length == 0 ? -1 : reply.body().length);
            exchange.getResponseBody().write(reply.body());
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        } finally {
            exchange.close();
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
