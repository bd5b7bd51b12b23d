package io.easykit.console.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;

import io.easykit.cache.EasyCacheException;
import io.easykit.cache.UnknownClusterException;
import io.easykit.cache.admin.CacheDisabledException;
import io.easykit.cache.admin.EasyCacheAdmin;
import io.easykit.cache.admin.UnknownCacheException;
import io.easykit.console.Caller;
import io.easykit.console.ConsoleApi;
import io.easykit.console.ConsoleRequest;
import io.easykit.console.Refusal;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What the console answers if the cache refuses a request. */
class CacheApiTests {

    private final EasyCacheAdmin admin = mock(EasyCacheAdmin.class);

    private Refusal refusal(EasyCacheException failure) {
        doThrow(failure).when(admin).clusters();
        ConsoleApi.Read caches =
                Objects.requireNonNull(new CacheApi(admin, "node").reads().get("caches"));
        return catchThrowableOfType(Refusal.class, () -> caches.answer(mock(ConsoleRequest.class), mock(Caller.class)));
    }

    @Test
    void namesTheParameterThatAPrefixOfSeveralRedisNeeds() {
        Refusal refused = refusal(UnknownCacheException.ambiguous("user", List.of("default", "trade")));

        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused.action()).isEqualTo("Give 'cluster'.");
    }

    @Test
    void findsNoUnknownCacheOrRedis() {
        assertThat(refusal(UnknownCacheException.unknown("user", List.of("price")))
                        .status())
                .isEqualTo(404);
        assertThat(refusal(new UnknownClusterException("trade", Set.of("default")))
                        .status())
                .isEqualTo(404);
        assertThat(refusal(new CacheDisabledException()).status()).isEqualTo(409);
    }
}
