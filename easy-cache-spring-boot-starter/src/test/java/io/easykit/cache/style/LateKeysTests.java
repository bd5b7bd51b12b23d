package io.easykit.cache.style;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LateKeysTests {

    private static final CacheSpec<String> SPEC = CacheSpec.of("late", String.class);

    private final LateKeys late = new LateKeys();
    private final List<CacheKey<?>> invalidated = new ArrayList<>();

    @Test
    void invalidatesEachKeyOnceWithoutThoseThatWerePrepared() throws Throwable {
        late.add(keys -> keys.addAll(List.of(SPEC.key(1), SPEC.key(2), SPEC.key(3))));
        late.add(keys -> keys.add(SPEC.key(2)));
        late.remove(List.of(SPEC.key(1)));

        late.invalidate(invalidated::addAll);

        assertThat(invalidated).containsExactly(SPEC.key(2), SPEC.key(3));
    }

    @Test
    void callsNothingWithoutKeys() throws Throwable {
        late.invalidate(keys -> invalidated.add(SPEC.all()));

        assertThat(invalidated).isEmpty();
    }

    /** A key generator in Kotlin may throw any exception. */
    @Test
    void aFailureOfAnyKindKeepsNoOtherKeyBack() {
        IOException first = new IOException("first");
        late.add(keys -> sneaky(first));
        late.add(keys -> sneaky(new StackOverflowError("second")));
        late.add(keys -> keys.add(SPEC.key(1)));

        assertThatThrownBy(() -> late.invalidate(keys -> {
                    invalidated.addAll(keys);
                    throw new IllegalStateException("third");
                }))
                .isSameAs(first)
                .hasSuppressedException(new StackOverflowError("second"))
                .hasSuppressedException(new IllegalStateException("third"));
        assertThat(invalidated).containsExactly(SPEC.key(1));
    }

    @SuppressWarnings("unchecked") // not declared, as in another language
    private static <X extends Throwable> void sneaky(Throwable failure) throws X {
        throw (X) failure;
    }
}
