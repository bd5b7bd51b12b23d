package io.easykit.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.Workbench.Caller;
import io.easykit.cache.Workbench.GatedLoader;
import org.junit.jupiter.api.Test;

class LoadLimitTests {

    private final LoadLimit limit = new LoadLimit(1);

    @Test
    void letsTheNextInWhenOneHasLoaded() throws Exception {
        GatedLoader<String> loader = new GatedLoader<>(() -> "first");
        Caller<String> first = call(loader);
        loader.awaitEntered();
        Caller<String> second = call(() -> "second").awaitWaiting();
        assertThat(second.isDone()).isFalse();
        loader.letGo();
        assertThat(first.result()).isEqualTo("first");
        assertThat(second.result()).isEqualTo("second");
    }

    @Test
    void givesThePlaceBackAfterAFailure() throws Throwable {
        IllegalStateException failure = new IllegalStateException("no database");
        assertThatThrownBy(() -> limit.around(() -> {
                            throw failure;
                        })
                        .load())
                .isSameAs(failure);
        assertThat(limit.isInside()).isFalse();
        assertThat(call(() -> "next").result()).isEqualTo("next");
    }

    @Test
    void knowsWhoHasAPlace() throws Throwable {
        assertThat(limit.isInside()).isFalse();
        assertThat(limit.around(limit::isInside).load()).isTrue();
        assertThat(limit.isInside()).isFalse();
    }

    private Caller<String> call(Loader<String, RuntimeException> loader) {
        return Workbench.call(() -> {
            try {
                return limit.around(loader).load();
            } catch (Throwable failure) {
                throw new IllegalStateException(failure);
            }
        });
    }
}
