package io.easykit.cache.history;

import java.time.Duration;

/**
 * How old an AP value may be, counted from the end of the update that it misses.
 *
 * @param quiet while every node reaches Redis
 * @param outage if a call to Redis failed since that update began
 * @param crash if that update never returned; counted from the first call that saw it
 */
record Bounds(Duration quiet, Duration outage, Duration crash) {}
