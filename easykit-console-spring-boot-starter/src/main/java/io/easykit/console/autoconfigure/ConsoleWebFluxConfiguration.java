package io.easykit.console.autoconfigure;

import io.easykit.console.Console;
import io.easykit.console.ConsoleReply;
import io.easykit.console.ConsoleRequest;
import io.easykit.console.Refusal;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.security.Principal;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextType;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import org.springframework.util.ClassUtils;
import org.springframework.web.reactive.DispatcherHandler;
import org.springframework.web.reactive.function.BodyInserters;
import org.springframework.web.reactive.function.server.RequestPredicates;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Serves the console with Spring WebFlux, where the actuator is. Calls run on the threads for blocking work. */
@ManagementContextConfiguration(value = ManagementContextType.ANY, proxyBeanMethods = false)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
@ConditionalOnClass({DispatcherHandler.class, Mono.class})
@ConditionalOnBean(ServedConsole.class)
class ConsoleWebFluxConfiguration {

    /** A change and one byte, which shows that a body is too large. */
    private static final int MAX_BODY = (1 << 20) + 1;

    private static final Duration BODY_TIMEOUT = Duration.ofSeconds(30);

    private static final ConsoleRequest.Body NO_BODY = most -> new byte[0];

    /** The only call whose reply has a token. */
    private static final String SESSION = "/api/session";

    private static final boolean SECURITY = ClassUtils.isPresent(
            "org.springframework.security.web.server.csrf.CsrfToken",
            ConsoleWebFluxConfiguration.class.getClassLoader());

    @Bean
    RouterFunction<ServerResponse> easykitConsoleRoutes(ServedConsole served) {
        Console console = served.console();
        return RouterFunctions.route(
                RequestPredicates.path(served.path() + "/**").and(request -> console != null),
                request ->
                        console == null ? ServerResponse.notFound().build() : answer(console, request, served.path()));
    }

    private static Mono<ServerResponse> answer(Console console, ServerRequest request, String base) {
        Mono<Optional<Principal>> user =
                request.principal().map(Optional::<Principal>of).defaultIfEmpty(Optional.empty());
        // Reading the token creates it, and a session to keep it, for each client without a cookie.
        boolean needsToken = SECURITY && path(request).equals(base + SESSION);
        Mono<Optional<ConsoleRequest.CsrfToken>> token = needsToken ? Csrf.of(request) : Mono.just(Optional.empty());
        return Mono.zip(user, token)
                .publishOn(Schedulers.boundedElastic())
                .flatMap(parts -> {
                    Function<ConsoleRequest.Body, ConsoleRequest> with = body -> request(
                            request,
                            base,
                            parts.getT1().orElse(null),
                            parts.getT2().orElse(null),
                            body);
                    boolean readsBody = console.readsBody(with.apply(NO_BODY));
                    return (readsBody
                                    ? body(request.exchange().getRequest().getBody(), BODY_TIMEOUT)
                                    : Mono.just(NO_BODY))
                            .flatMap(body -> toItsEnd(() -> console.handle(with.apply(body))));
                })
                .flatMap(ConsoleWebFluxConfiguration::response);
    }

    /** A client that goes away meanwhile must not interrupt a change half way. */
    static Mono<ConsoleReply> toItsEnd(Supplier<ConsoleReply> call) {
        Executor blocking = Schedulers.boundedElastic()::schedule;
        return Mono.fromFuture(() -> CompletableFuture.supplyAsync(call, blocking), true);
    }

    private static String path(ServerRequest request) {
        return request.requestPath().pathWithinApplication().value();
    }

    /** Holds no thread while it waits. A body that is late, or breaks off, fails when the console reads it, and so is recorded. */
    static Mono<ConsoleRequest.Body> body(Flux<DataBuffer> body, Duration timeout) {
        return DataBufferUtils.join(DataBufferUtils.takeUntilByteCount(body, MAX_BODY))
                .map(ConsoleWebFluxConfiguration::bytes)
                .defaultIfEmpty(new byte[0])
                .<ConsoleRequest.Body>map(bytes -> most -> bytes)
                .timeout(timeout, Mono.just(most -> {
                    throw new Refusal(408, "The body did not come in time.", "Send it again.");
                }))
                .onErrorResume(failure -> Mono.just(most -> {
                    throw new IllegalStateException("The body of the request was not read", failure);
                }));
    }

    private static byte[] bytes(DataBuffer buffer) {
        byte[] bytes = new byte[buffer.readableByteCount()];
        buffer.read(bytes);
        DataBufferUtils.release(buffer);
        return bytes;
    }

    private static ConsoleRequest request(
            ServerRequest request,
            String base,
            @Nullable Principal user,
            ConsoleRequest.@Nullable CsrfToken token,
            ConsoleRequest.Body body) {
        String remote = request.remoteAddress()
                .map(ConsoleWebFluxConfiguration::address)
                .orElse("");
        Predicate<String> roles = role -> SECURITY && Csrf.hasRole(user, role);
        return new ConsoleRequest(
                request.method().name(),
                path(request).substring(base.length()),
                request.queryParams(),
                name -> request.headers().header(name),
                remote,
                user == null ? null : user.getName(),
                roles,
                () -> token,
                body);
    }

    /** The address that a proxy has forwarded is not resolved. */
    private static String address(InetSocketAddress remote) {
        return remote.getAddress() == null
                ? remote.getHostString()
                : remote.getAddress().getHostAddress();
    }

    private static Mono<ServerResponse> response(ConsoleReply reply) {
        ServerResponse.BodyBuilder builder = ServerResponse.status(reply.status());
        reply.headers().forEach(builder::header);
        ConsoleReply.Content content = reply.content();
        if (content != null) {
            return builder.body(BodyInserters.fromDataBuffers(DataBufferUtils.outputStreamPublisher(
                    out -> write(content, out),
                    DefaultDataBufferFactory.sharedInstance,
                    Schedulers.boundedElastic()::schedule)));
        }
        byte[] body = reply.body();
        // Not through the codecs of the application, which may have none for bytes.
        return body.length == 0
                ? builder.build()
                : builder.contentLength(body.length)
                        .body(BodyInserters.fromDataBuffers(
                                Mono.just(DefaultDataBufferFactory.sharedInstance.wrap(body))));
    }

    private static void write(ConsoleReply.Content content, OutputStream out) {
        try {
            content.write(out);
        } catch (IOException gone) {
            throw new UncheckedIOException(gone);
        }
    }

    /** Used only if the classes of Spring Security are there. */
    private static final class Csrf {

        private Csrf() {}

        static Mono<Optional<ConsoleRequest.CsrfToken>> of(ServerRequest request) {
            Object token = request.exchange()
                    .getAttributes()
                    .get(org.springframework.security.web.server.csrf.CsrfToken.class.getName());
            if (!(token instanceof Mono<?> later)) {
                return Mono.just(Optional.empty());
            }
            return later.cast(org.springframework.security.web.server.csrf.CsrfToken.class)
                    .map(csrf -> Optional.of(new ConsoleRequest.CsrfToken(csrf.getHeaderName(), csrf.getToken())))
                    .defaultIfEmpty(Optional.empty());
        }

        static boolean hasRole(@Nullable Principal user, String role) {
            String authority = role.startsWith("ROLE_") ? role : "ROLE_" + role;
            return user instanceof org.springframework.security.core.Authentication authentication
                    && authentication.isAuthenticated()
                    && authentication.getAuthorities().stream()
                            .anyMatch(granted -> authority.equals(granted.getAuthority()));
        }
    }
}
