/**
 * The engine: sends, claims, runs handlers, renews leases. Public are {@link DelayQueueEngine}, which builds it, and
 * {@link ListenerContainer}. It calls the store through {@link io.easykit.delayqueue.store.QueueBackend}, and depends on no Redis
 * client and not on Spring. The page {@code docs/delay-queue/internals.md} lists all classes of this package.
 *
 * <p><b>A send</b>: {@link DefaultDelayQueueTemplate} → {@link Interceptors} → {@link Sender}, which sends now or at the phase of the
 * transaction → {@link MessageEncoder}, which chooses id and shard and makes a {@link PreparedMessage} with its {@link Envelope} →
 * {@link PreparedMessageStore} → {@link SendBatcher}, which shares calls, and {@link SendRetry}, which repeats them.
 *
 * <p><b>A delivery</b>: {@link ListenerContainer} → {@link ContainerRun} → {@link ShardConsumers} → {@link ShardConsumer}, the loop of a
 * shard → {@link MessageClaimer}, which claims as many messages as {@link ConcurrencyLimiter} has permits for →
 * {@link ExecutionStarter} → {@link Workers} → {@link MessageExecution}, which calls the handler and settles each
 * {@link InFlightMessage} → {@link Settlements}, which sends the results. Meanwhile {@link LeaseRenewer} renews the leases.
 *
 * <p><b>A job</b>: {@link DefaultDelayQueueAdmin} → {@link JobRunner}, which stores the job and takes its lock on one node →
 * {@link JobRun}, which moves messages step by step → {@link JobScan}, which selects them, and {@link JobRate}, which spreads the moves.
 *
 * <p><b>The outbox</b>: {@link OutboxSends} writes a row in the transaction of the send. After the commit {@link OutboxRelay} →
 * {@link OutboxPass} → {@link OutboxStorage}, which stores the messages as a send does. {@link OutboxLeases} decides which process may.
 */
@NullMarked
package io.easykit.delayqueue.engine;

import org.jspecify.annotations.NullMarked;
