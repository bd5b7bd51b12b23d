package io.easykit.delayqueue.store;

import java.time.Instant;

/**
 * The result of a redrive of one page.
 *
 * @param diedUntil the cut-off that was used, for the next page
 */
public record RedrivenPage(Instant diedUntil, int count) {}
