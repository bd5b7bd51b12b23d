package io.easykit.delayqueue.store;

import java.time.Instant;

/**
 * What a redrive of a page did.
 *
 * @param diedUntil the cut-off that was used, for the next page
 */
public record RedrivenPage(Instant diedUntil, int count) {}
