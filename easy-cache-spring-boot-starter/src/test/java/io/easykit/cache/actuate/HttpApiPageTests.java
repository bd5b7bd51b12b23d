package io.easykit.cache.actuate;

import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doReturn;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.easykit.boot.AuditKeeper;
import io.easykit.boot.OperatorAudit;
import io.easykit.cache.Availability;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.EasyCache;
import io.easykit.cache.OutboxBacklog;
import io.easykit.cache.Outcome;
import io.easykit.cache.admin.CacheDeclaration;
import io.easykit.cache.admin.CacheInfo;
import io.easykit.cache.admin.CacheNumbers;
import io.easykit.cache.admin.EasyCacheAdmin;
import io.easykit.cache.admin.EntryExplanation;
import io.easykit.test.HttpApiPage;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import tools.jackson.databind.json.JsonMapper;

/** Compares the tables of {@code docs/http-api.md} with replies of the endpoint that have all fields. */
class HttpApiPageTests {

    private final EasyCache cache = mock(EasyCache.class);
    private final EasyCacheAdmin admin = mock(EasyCacheAdmin.class);
    private final OperatorAudit audit = new OperatorAudit("node", () -> 0, AuditKeeper.NONE, event -> {});
    private final EasyCacheEndpoint endpoint = new EasyCacheEndpoint(cache, admin, audit);
    private final EasyCacheEndpointWebExtension web = new EasyCacheEndpointWebExtension(endpoint);
    private final HttpApiPage page = HttpApiPage.read("endpoint", "Errors", "Objects of the cache");
    private final JsonMapper json = JsonMapper.builder().build();

    @BeforeEach
    void fill() {
        Availability availability = mock(Availability.class);
        when(availability.state()).thenReturn(Availability.State.AVAILABLE);
        when(availability.forced()).thenReturn(Optional.empty());
        when(availability.problems()).thenReturn(List.of("It is full."));
        when(availability.masters()).thenReturn(Map.of("slots 0-5460", Availability.State.UNAVAILABLE));
        when(cache.clusterIds()).thenReturn(Set.of("default"));
        when(cache.availability("default")).thenReturn(availability);
        when(cache.outboxBacklog("default")).thenReturn(new OutboxBacklog(1, 12, Duration.ofSeconds(1)));
        CacheSpec<String> spec = CacheSpec.of("price", String.class);
        CacheDeclaration declaration = new CacheDeclaration(
                "@Cacheable Prices.find(long)",
                spec,
                List.of(new CacheDeclaration.KeyPart("#id", long.class), new CacheDeclaration.KeyPart("#x", null)),
                List.of(new CacheDeclaration.Setting("ttl", "10m", "default")),
                "worst staleness 1500ms");
        when(admin.caches())
                .thenReturn(List.of(new CacheInfo(
                        "price",
                        "default",
                        Consistency.AP,
                        Duration.ofMillis(1500),
                        List.of(declaration),
                        CacheNumbers.none(Duration.ofDays(1)))));
        doReturn(spec.key(7)).when(admin).key(any(), any(), any());
        when(admin.explain(any()))
                .thenReturn(new EntryExplanation(
                        "price::7",
                        Instant.EPOCH,
                        EntryExplanation.State.REFRESH_DUE,
                        Outcome.SUCCESS_NEED_QUERY,
                        List.of("Readers get the value."),
                        List.of(new EntryExplanation.Field("value", "12 bytes"))));
        when(admin.drop(any(), any())).thenReturn(true);
    }

    private void add(String object, WebEndpointResponse<Object> reply) {
        page.add(object, json.writeValueAsString(reply.getBody()));
    }

    private WebEndpointResponse<Object> act(String action, String prefix) {
        return web.act(SecurityContext.NONE, action, "default", prefix, "7", null, "auto");
    }

    @Test
    void eachFieldHasARowAndEachRowAField() {
        endpoint.clusters().values().forEach(cluster -> page.add("Cluster", json.writeValueAsString(cluster)));
        add("Cache", web.show("caches", null, null, null, null));
        add("Explanation", web.show("explain", null, "price", "7", null));
        add("Problem", web.show("nonsense", null, null, null, null));
        add("Invalidation", act("evict", "price"));
        add("Invalidation", act("drop", "price"));

        page.requireComplete();
    }

    @Test
    void eachAddressHasARowAndEachRowAnAddress() {
        page.requireAddresses("Endpoint easycache", "GET", listed(web.show("nonsense", null, null, null, null)));
        page.requireAddresses("Endpoint easycache", "POST", listed(act("nonsense", "price")));
    }

    /** The addresses that the reply to an unknown one lists. */
    private static List<String> listed(WebEndpointResponse<Object> reply) {
        Object action = ((Map<?, ?>) reply.getBody()).get("action");
        return List.of(action.toString().replaceAll("^Use |\\.$", "").split(", | or "));
    }
}
