package io.easykit.benchmarks.queue.contender;

import io.easykit.benchmarks.queue.node.Message;
import io.easykit.benchmarks.queue.node.QueueContender;
import io.easykit.benchmarks.queue.node.Setup;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;

/**
 * The lower bound: the same number of calls as delay-queue, with minimal scripts. One call sends a list. One call
 * removes the messages handled last and takes the next ones. No leases, counters, retries or wake-ups. One thread takes
 * and handles messages, and polls every few milliseconds when there are none.
 */
final class LettuceContender implements QueueContender {

    private static final String SEND =
            """
            for i = 1, #ARGV, 3 do
              redis.call('SET', KEYS[1] .. ARGV[i], ARGV[i + 2])
              redis.call('ZADD', KEYS[1], ARGV[i + 1], ARGV[i])
            end
            """;

    private static final String TAKE =
            """
            local done = {}
            for i = 3, #ARGV do done[i - 2] = KEYS[1] .. ARGV[i] end
            if #done > 0 then redis.call('UNLINK', unpack(done)) end
            local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
            if #ids == 0 then return {} end
            redis.call('ZREM', KEYS[1], unpack(ids))
            local messages = {}
            for i, id in ipairs(ids) do messages[i] = KEYS[1] .. id end
            return {ids, redis.call('MGET', unpack(messages))}
            """;

    private static final long PAUSE_NANOS = 5_000_000;

    private final RedisCommands<String, String> redis;
    private final String send;
    private final String take;

    private LettuceContender(RedisCommands<String, String> redis) {
        this.redis = redis;
        this.send = redis.scriptLoad(SEND);
        this.take = redis.scriptLoad(TAKE);
    }

    static QueueContender open(Setup setup, int list) {
        RedisClient client = RedisClient.create(RedisURI.create(setup.host(), setup.port()));
        StatefulRedisConnection<String, String> sending = client.connect();
        if (setup.listens()) {
            LettuceContender taking = new LettuceContender(client.connect().sync());
            Thread consumer = new Thread(() -> taking.consume(setup, list), "taker");
            consumer.setDaemon(true);
            consumer.start();
        }
        return new LettuceContender(sending.sync());
    }

    private void consume(Setup setup, int list) {
        String queue = setup.queues().get(0);
        List<String> done = List.of();
        while (true) {
            List<List<String>> taken = take(queue, list, done);
            done = taken.isEmpty() ? List.of() : taken.get(0);
            if (taken.isEmpty()) {
                LockSupport.parkNanos(PAUSE_NANOS);
            } else {
                taken.get(1).forEach(setup.listener());
            }
        }
    }

    private List<List<String>> take(String queue, int list, List<String> done) {
        List<String> arguments =
                new ArrayList<>(List.of(String.valueOf(System.currentTimeMillis()), String.valueOf(list)));
        arguments.addAll(done);
        return redis.evalsha(take, ScriptOutputType.MULTI, new String[] {queue}, arguments.toArray(String[]::new));
    }

    @Override
    public void send(String queue, Message message) {
        sendAll(queue, List.of(message));
    }

    @Override
    public void sendAll(String queue, List<Message> messages) {
        List<String> arguments = new ArrayList<>();
        for (Message message : messages) {
            arguments.add(UUID.randomUUID().toString());
            arguments.add(String.valueOf(message.due()));
            arguments.add(message.text());
        }
        redis.evalsha(send, ScriptOutputType.STATUS, new String[] {queue}, arguments.toArray(String[]::new));
    }
}
