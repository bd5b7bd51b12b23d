package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class WorkLeaseScriptTests {

    @AutoClose
    private final SeededEntry entry = new SeededEntry();

    @Test
    void givesAFreeLease() {
        assertThat(entry.call(CacheScript.WORK_LEASE, "me", "300000", "all")).isEqualTo(0L);

        assertThat(entry.state()).isEqualTo("{owner='me', work='all'} lives 300s");
    }

    @Test
    void renewsTheOwnersLease() {
        entry.field("owner", "me").lives(100);

        assertThat(entry.call(CacheScript.WORK_LEASE, "me", "300000", "all")).isEqualTo(0L);

        assertThat(entry.state()).isEqualTo("{owner='me', work='all'} lives 300s");
    }

    @Test
    void leavesTheLeaseOfAnother() {
        entry.field("owner", "other").lives(100);

        assertThat((Long) entry.call(CacheScript.WORK_LEASE, "me", "300000", "all"))
                .isBetween(90_000L, 100_000L);

        assertThat(entry.state()).isEqualTo("{owner='other'} lives 100s");
    }

    @Test
    void takesALeaseThatNeverExpires() {
        entry.field("owner", "other").livesForEver();

        assertThat(entry.call(CacheScript.WORK_LEASE, "me", "300000", "all")).isEqualTo(0L);

        assertThat(entry.state()).isEqualTo("{owner='me', work='all'} lives 300s");
    }

    @Test
    void takesALeaseThatIsLongerThanAnyOneBecauseTheClockWasSetBack() {
        entry.field("owner", "other").lives(302);

        assertThat(entry.call(CacheScript.WORK_LEASE, "me", "300000", "all")).isEqualTo(0L);

        assertThat(entry.state()).isEqualTo("{owner='me', work='all'} lives 300s");
    }

    @Test
    void marksTheLeaseOfAnOwnerThatDoesAPart() {
        entry.field("owner", "me").field("work", "all").lives(100);

        assertThat(entry.call(CacheScript.WORK_LEASE, "me", "300000", "part")).isEqualTo(0L);

        assertThat(entry.state()).isEqualTo("{owner='me', work='part'} lives 300s");
    }

    @Test
    void takesTheLeaseOfAnOwnerThatDoesAPart() {
        entry.field("owner", "other").field("work", "part").lives(100);

        assertThat(entry.call(CacheScript.WORK_LEASE, "me", "300000", "all")).isEqualTo(0L);

        assertThat(entry.state()).isEqualTo("{owner='me', work='all'} lives 300s");
    }

    @Test
    void leavesItToThatOwnerIfTheCallerDoesAPartToo() {
        entry.field("owner", "other").field("work", "part").lives(100);

        assertThat((Long) entry.call(CacheScript.WORK_LEASE, "me", "300000", "part"))
                .isBetween(90_000L, 100_000L);

        assertThat(entry.state()).isEqualTo("{owner='other', work='part'} lives 100s");
    }
}
