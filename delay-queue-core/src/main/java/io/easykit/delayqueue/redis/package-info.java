/**
 * The queue in Redis. A call passes these classes, each with one task:
 * <ol>
 *   <li>{@link io.easykit.delayqueue.redis.RedisQueueStore} (and {@code RedisFleetStore} for the registry of nodes): one method
 *       for each operation, makes the arguments ({@code Arguments});
 *   <li>{@code ShardScripts}: adds the keys of the shard ({@code RedisKeys}), repeats while a slot moves ({@code SlotRetry}),
 *       translates failures ({@code QueueFailures}) and finds what to do about a refusal ({@code Remedies});
 *   <li>{@link io.easykit.redis.ScriptExecutor}, shared with the cache: sends the script by its SHA or its text, over Lettuce or
 *       another driver;
 *   <li>the script in Lua ({@code QueueScript} names them; {@code prelude.lua} has their common parts);
 *   <li>{@code Replies} and {@code FleetReplies}: read the reply by names.
 * </ol>
 *
 * <p>{@code CONTRIBUTING.md} lists the steps for a new script.
 */
@NullMarked
package io.easykit.delayqueue.redis;

import org.jspecify.annotations.NullMarked;
