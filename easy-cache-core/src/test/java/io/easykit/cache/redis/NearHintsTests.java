package io.easykit.cache.redis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class NearHintsTests {

    private static final List<byte[]> ARGUMENTS = List.of(new byte[] {1}, new byte[] {2});

    private final NearHints here = NearHints.on("ec:near");
    private final NearHints elsewhere = NearHints.on("ec:near");
    private final List<String> received = new ArrayList<>();

    private static CacheKey<String> keyWith(Duration nearTtl) {
        CacheOptions options = CacheOptions.builder().nearTtl(nearTtl).build();
        return CacheSpec.of("name", String.class).withOptions(options).key("Ada");
    }

    @Test
    void anEntryThatNoNodeKeepsNearbyHasNoHint() {
        assertThat(here.with(ARGUMENTS, keyWith(Duration.ZERO))).isSameAs(ARGUMENTS);
    }

    @Test
    void nothingHasAHintWhereTheyAreSwitchedOff() {
        assertThat(NearHints.NONE.with(ARGUMENTS, keyWith(Duration.ofSeconds(1))))
                .isSameAs(ARGUMENTS);
    }

    @Test
    void aHintNamesTheEntryForOtherNodes() {
        here.setListener(received::add);
        elsewhere.setListener(received::add);

        List<byte[]> all = here.with(ARGUMENTS, keyWith(Duration.ofSeconds(1)));
        assertThat(all).hasSize(4).startsWith(ARGUMENTS.toArray(byte[][]::new));
        assertThat(new String(all.get(2), UTF_8)).isEqualTo("ec:near");
        elsewhere.received(all.get(3));

        assertThat(received).containsExactly("name::Ada");
    }

    @Test
    void aNodeIgnoresItsOwnHints() {
        here.setListener(received::add);

        here.received(here.with(ARGUMENTS, keyWith(Duration.ofSeconds(1))).get(3));
        here.received(here.ofAll("name"));

        assertThat(received).isEmpty();
    }

    @Test
    void anEntryThatIsKnownByItsNameOnlyHasAHint() {
        CacheKey<?> ofTheOutbox = CacheKey.named("default", "name::Ada");
        assertThat(here.with(ARGUMENTS, ofTheOutbox)).hasSize(4);
    }

    /** Somebody has written it into the hash with the epochs. */
    @Test
    void aPrefixThatNoCacheCanHaveHasAHintToo() {
        elsewhere.setListener(received::add);

        elsewhere.received(here.ofAll("name:"));

        assertThat(received).containsExactly("name:::]");
    }

    @Test
    void garbageAndEmptyHintsAreIgnored() {
        here.setListener(received::add);

        for (byte[] message : List.of(new byte[0], "garbage".getBytes(UTF_8), elsewhere.empty())) {
            here.received(message);
        }

        assertThat(received).isEmpty();
    }
}
