package io.easykit.cache.style;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.InvalidCacheCallException;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CallersKeysTests {

    private static List<CacheKey<?>> keys(String tenant) {
        return List.of(CacheSpec.of("tenant", String.class).key(tenant));
    }

    private static CallersKeys callers(boolean mayChange) throws NoSuchMethodException {
        return new CallersKeys(keys("a"), String.class.getMethod("toString"), mayChange);
    }

    private static void refuses(ThrowingCallable call) {
        assertThatExceptionOfType(InvalidCacheCallException.class).isThrownBy(call);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void refusesOtherKeysOfTheFirstSubscription(boolean mayChange) throws Exception {
        CallersKeys callers = callers(mayChange);
        refuses(() -> callers.areSame(() -> keys("b")));
        refuses(() -> callers.areSame(() -> keys("b")));
        assertThat(callers.areSame(() -> keys("a"))).isTrue();
        refuses(() -> callers.pass(() -> keys("b")));
    }

    /** A retry subscribes on the thread of the cache, where the tenant is missing as well. */
    @Test
    void refusesAgainWhatWasRefusedBeforeTheMethod() throws Exception {
        CallersKeys callers = callers(true);
        assertThat(callers.areSame(() -> keys("a"))).isTrue();
        refuses(() -> callers.pass(() -> keys("b")));

        refuses(() -> callers.areSame(() -> keys("b")));
    }

    @Test
    void takesOtherKeysOfALaterSubscriptionIfArgumentsCanChange() throws Exception {
        CallersKeys called = callers(true);
        assertThat(called.pass(() -> keys("a"))).isTrue();
        assertThat(called.pass(() -> keys("b"))).isFalse();
        CallersKeys found = callers(true);
        assertThat(found.areSame(() -> keys("a"))).as("a hit").isTrue();
        assertThat(found.areSame(() -> keys("b"))).isFalse();
    }

    @Test
    void refusesThemIfTheArgumentsCannotChange() throws Exception {
        CallersKeys callers = callers(false);
        assertThat(callers.pass(() -> keys("a"))).isTrue();
        refuses(() -> callers.pass(() -> keys("b")));
        refuses(() -> callers.areSame(() -> keys("b")));
        assertThat(callers.pass(() -> keys("a"))).isTrue();
    }
}
