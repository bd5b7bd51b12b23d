/**
 * Entries in Redis: one hash for each, one script for each operation. A call passes these classes, each with one task:
 * <ol>
 *   <li>{@link io.easykit.cache.redis.RedisEntryStore}: one method for each operation, makes the arguments and reads the reply;
 *       {@code StoredEpochs} does so for epochs, {@code EntryFields} for a plain read;
 *   <li>{@code EntryCalls}: removes a key of another type, waits for the reply, translates failures ({@code CacheFailures});
 *   <li>{@code RedisCommands}: the few commands that are needed, over Lettuce or another driver;
 *   <li>{@link io.easykit.redis.ScriptExecutor}, shared with the queue: sends a script by its SHA or its text;
 *   <li>the script in Lua ({@code CacheScript} names them; {@code prelude.lua} explains the fields of an entry).
 * </ol>
 */
@NullMarked
package io.easykit.cache.redis;

import org.jspecify.annotations.NullMarked;
