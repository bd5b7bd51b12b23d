package io.easykit.cache.actuate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.easykit.boot.AuditKeeper;
import io.easykit.boot.HttpProblem;
import io.easykit.boot.OperatorAudit;
import io.easykit.cache.Availability;
import io.easykit.cache.EasyCache;
import io.easykit.cache.EasyCacheException;
import io.easykit.cache.admin.CacheDisabledException;
import io.easykit.cache.admin.EasyCacheAdmin;
import io.easykit.cache.admin.UnknownCacheException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Replies of the endpoint that no request to a real cache of one Redis has. */
class EasyCacheEndpointTests {

    private final EasyCache cache = mock(EasyCache.class);
    private final EasyCacheAdmin admin = mock(EasyCacheAdmin.class);
    private final Availability availability = mock(Availability.class);

    @BeforeEach
    void haveOneRedis() {
        when(cache.clusterIds()).thenReturn(Set.of("default"));
        when(cache.availability("default")).thenReturn(availability);
        when(availability.state()).thenReturn(Availability.State.AVAILABLE);
        when(availability.forced()).thenReturn(Optional.empty());
    }

    private EasyCacheEndpoint endpoint(@Nullable EasyCacheAdmin operated) {
        return new EasyCacheEndpoint(
                cache, operated, new OperatorAudit("node", () -> 0, AuditKeeper.NONE, event -> {}));
    }

    private HttpProblem refusal(EasyCacheException failure) {
        doThrow(failure).when(admin).caches();
        return refusal(() -> endpoint(admin).show("caches", null, null, null, null));
    }

    private static HttpProblem refusal(ThrowingCallable request) {
        return catchThrowableOfType(RefusedRequest.class, request).problem();
    }

    private HttpProblem force(@Nullable String state) {
        return refusal(() -> endpoint(admin).act("force", "default", null, null, null, state));
    }

    @Test
    void showsTheMastersInTheOrderOfTheirSlots() {
        Map<String, Availability.State> masters = new LinkedHashMap<>();
        for (String slots : List.of("slots 0-5460", "slots 5461-10922", "slots 10923-16383")) {
            masters.put(slots, Availability.State.AVAILABLE);
        }
        when(availability.masters()).thenReturn(masters);

        ClusterState shown = Objects.requireNonNull(endpoint(admin).clusters().get("default"));
        assertThat(shown.masters().keySet()).containsExactlyElementsOf(masters.keySet());
    }

    @Test
    void namesTheParameterThatAPrefixOfSeveralRedisNeeds() {
        HttpProblem problem = refusal(UnknownCacheException.ambiguous("user", List.of("default", "trade")));

        assertThat(problem.status()).isEqualTo(400);
        assertThat(problem.detail()).contains("is on the Redis clusters [default, trade]");
        assertThat(problem.action()).isEqualTo("Give 'cluster'.");
    }

    @Test
    void doesNotFindACacheThatThisNodeDoesNotHave() {
        assertThat(refusal(UnknownCacheException.unknown("user", List.of("price")))
                        .status())
                .isEqualTo(404);
        assertThat(refusal(UnknownCacheException.elsewhere("user", "trade", List.of("default")))
                        .status())
                .isEqualTo(404);
    }

    @Test
    void tellsAMissingStateFromAWrongOne() {
        assertThat(force(null).detail()).isEqualTo("The request has no 'state'.");
        assertThat(force("on").detail()).isEqualTo("There is no state 'on'.");
        assertThat(force("on").action()).isEqualTo("Give the 'state': available, unavailable or auto.");
    }

    @Test
    void refusesWhatTheCacheOfThisApplicationCannotDo() {
        assertThat(refusal(new CacheDisabledException()).status()).isEqualTo(409);
        assertThat(refusal(() -> endpoint(null).show("caches", null, null, null, null))
                        .status())
                .isEqualTo(409);
        assertThat(endpoint(null).clusters()).containsOnlyKeys("default");
    }
}
