package io.easykit.benchmarks.queue.rqueue;

/** The payload: a plain String would reach the listener still in rqueue's envelope. */
record Text(String text) {}
