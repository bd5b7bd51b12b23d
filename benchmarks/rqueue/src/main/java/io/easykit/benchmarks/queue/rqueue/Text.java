package io.easykit.benchmarks.queue.rqueue;

/** The payload. A plain String would reach the listener in rqueue's envelope. */
record Text(String text) {}
