package io.easykit.cache.actuate;

import java.security.Principal;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;

/** Answers bad requests over HTTP with the problem and its remedy. By default Spring Boot leaves the message out. */
@EndpointWebExtension(endpoint = EasyCacheEndpoint.class)
public final class EasyCacheEndpointWebExtension {

    private final EasyCacheEndpoint endpoint;

    public EasyCacheEndpointWebExtension(EasyCacheEndpoint endpoint) {
        this.endpoint = endpoint;
    }

    @ReadOperation
    public WebEndpointResponse<Object> show(
            @Selector String view,
            @Nullable String cluster,
            @Nullable String prefix,
            @Nullable Object part,
            @Nullable String key) {
        return answer(() -> endpoint.show(view, cluster, prefix, part, key));
    }

    @WriteOperation
    public WebEndpointResponse<Object> act(
            SecurityContext caller,
            @Selector String action,
            @Nullable String cluster,
            @Nullable String prefix,
            @Nullable Object part,
            @Nullable String key,
            @Nullable String state) {
        return answer(() ->
                endpoint.act(name(caller), new EasyCacheEndpoint.Change(action, cluster, prefix, part, key, state)));
    }

    private static String name(SecurityContext caller) {
        Principal principal = caller.getPrincipal();
        return principal == null || principal.getName() == null ? EasyCacheEndpoint.ANONYMOUS : principal.getName();
    }

    private static WebEndpointResponse<Object> answer(Supplier<Object> work) {
        try {
            return new WebEndpointResponse<>(work.get());
        } catch (RefusedRequest refused) {
            return refused.problem().reply();
        }
    }
}
