package io.easykit.cache.history;

import java.util.function.Supplier;

/**
 * Something that goes wrong for a while.
 *
 * @param place what it strikes; faults of different places may overlap
 * @param losesData whether Redis loses data; then it must not overlap with other faults
 * @param strike begins it, and returns its end
 */
record Fault(String name, String place, boolean losesData, Supplier<Runnable> strike) {}
