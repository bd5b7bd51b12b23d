/**
 * Values and rules that the packages of the queue share. These are API, because signatures of other packages have them:
 *
 * <ul>
 *   <li>{@link DueTime}: when a message is due, of {@link io.easykit.delayqueue.OutgoingMessage#due()} and
 *       {@link io.easykit.delayqueue.admin.DelayQueueAdmin#reschedule}.
 *   <li>{@link Bytes}: bodies, of {@link io.easykit.delayqueue.PayloadCodec} and {@link io.easykit.delayqueue.MessageInfo}.
 *   <li>{@link Transactions}: the transactions of the application, for an engine that is built without the starter.
 *   <li>{@link NameRules}: limits of topics, ids and ordering keys, for a store of your own.
 * </ul>
 *
 * <p>{@link LogText} and {@link DurationText} are for the modules of this library, and may change in any release.
 */
@NullMarked
package io.easykit.delayqueue.support;

import org.jspecify.annotations.NullMarked;
