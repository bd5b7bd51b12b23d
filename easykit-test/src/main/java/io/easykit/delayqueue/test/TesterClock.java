package io.easykit.delayqueue.test;

import io.easykit.delayqueue.time.VirtualTime;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;

/** A clock that shows virtual time. */
final class TesterClock extends Clock {

    private final VirtualTime time;
    private final ZoneId zone;

    TesterClock(VirtualTime time, ZoneId zone) {
        this.time = time;
        this.zone = zone;
    }

    @Override
    public ZoneId getZone() {
        return zone;
    }

    @Override
    public Clock withZone(ZoneId other) {
        return new TesterClock(time, other);
    }

    @Override
    public Instant instant() {
        return time.now();
    }
}
