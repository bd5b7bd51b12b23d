package io.easykit.delayqueue.store;

/**
 * The report of one change of an alert by one node. Its calls may be repeated: the reply is the same until the report is
 * confirmed.
 *
 * @param token letters and digits that no other report has
 * @param isDone whether the node has reported the change, and confirms that
 */
public record AlertReport(String token, boolean isDone) {}
