package io.easykit.delayqueue.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.ErrorGroups;
import io.easykit.delayqueue.admin.Job;
import io.easykit.delayqueue.admin.JobRequest;
import io.easykit.delayqueue.admin.MessagePage;
import io.easykit.delayqueue.admin.MessageQuery;
import io.easykit.delayqueue.admin.TopicStats;
import io.easykit.delayqueue.store.Position;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The administration of large topics on a real Redis. */
class DelayQueueAdminIntegrationTests {

    private static final String DEAD =
            """
            for i = 1, tonumber(ARGV[1]) do
              local id = string.format('m%06d', i)
              redis.call('ZADD', KEYS[1] .. 'dead', 1700000000000 + i, id)
              redis.call('SET', KEYS[1] .. 'm:' .. id, string.rep('x', 140))
              redis.call('HSET', KEYS[1] .. 'state', id, '5:3:1:2:600:owner')
              redis.call('HSET', KEYS[1] .. 'errors', 'L' .. id, '1700000000000:owner:com.shop.Broken: order ' .. i .. ' of '
                .. string.char(97 + i % 3) .. string.char(97 + i % 3) .. '\\n  at com.shop.Orders.close(Orders.java:42)')
            end""";

    private final RedisServer server = RedisServer.start();
    private final RawRedis redis = server.connect();
    private final RedisQueue queue = new RedisQueue(server.host(), server.port());
    private final DelayQueueAdmin admin = queue.engine.admin();

    @AfterEach
    void close() {
        queue.close();
        redis.close();
        server.close();
    }

    private void die(String topic, int count) {
        die(topic, 0, count);
    }

    private void die(String topic, int shard, int count) {
        redis.command("EVAL", DEAD, "1", "dq:{" + topic + ":" + shard + "}:", String.valueOf(count));
    }

    @Test
    void groupsAsManyAsOneLookReads() {
        die("orders", 10_600);

        ErrorGroups groups = admin.groups("orders");

        assertThat(groups.total()).isEqualTo(10_600);
        assertThat(groups.scanned()).isEqualTo(DelayQueueAdmin.MOST_GROUPED);
        assertThat(groups.isComplete()).isFalse();
        assertThat(groups.groups()).hasSize(3).allMatch(count -> count.count() >= 3_333);
        assertThat(groups.groups().get(0).group().title()).startsWith("Broken: order # of ");
        assertThat(groups.groups().get(0).group().frame()).isEqualTo("Orders.close:42");
    }

    @ParameterizedTest
    @CsvSource({"4000, 4000, 4000", "0, 600, 10600", "200, 9600, 9600"})
    void groupsAsManyOfSeveralShards(int first, int second, int third) {
        try (RedisQueue spread = new RedisQueue(
                server.host(), server.port(), RedisQueue.PATIENT, builder -> builder.shards(topic -> 3))) {
            spread.engine.template().send("spread", "x", Duration.ofHours(1));
            die("spread", 0, first);
            die("spread", 1, second);
            die("spread", 2, third);

            ErrorGroups groups = spread.engine.admin().groups("spread");

            assertThat(groups.total()).isEqualTo(first + second + third);
            assertThat(groups.scanned()).isEqualTo(DelayQueueAdmin.MOST_GROUPED);
            assertThat(groups.isComplete()).isFalse();
        }
    }

    @Test
    void readsAPageFromTheMiddleOfManyInOneCall() {
        queue.engine.template().send("orders", "x", Duration.ofHours(1));
        die("orders", 20_000);
        MessageQuery query = MessageQuery.dead().size(100);
        String middle = new PageCursor(PageCursor.MERGED, new Position("1700000010000", "m010000")).encode();
        admin.messages("orders", query);
        redis.command("CONFIG", "RESETSTAT");

        MessagePage page = admin.messages("orders", query.after(middle));

        assertThat(page.rank()).isEqualTo(10_000);
        assertThat(page.messages().get(0).id()).isEqualTo("m010001");
        assertThat(page.messages()).hasSize(100);
        assertThat(redis.info("commandstats").get("cmdstat_evalsha")).contains("calls=1,");
        assertThat(Long.parseLong(redis.info("stats").get("total_net_output_bytes")))
                .isLessThan(100_000);
    }

    /** The second node takes over when it reads the job. The test deletes the lock of the first one instead of waiting. */
    @Test
    void anotherNodeContinuesTheJobOfANodeThatHasEnded() {
        die("orders", 300);
        Job job = admin.redriveAll("orders", 50);
        await().until(() -> admin.job(job.id()).orElseThrow().done() >= 20);

        try (RedisQueue second = new RedisQueue(server.host(), server.port())) {
            DelayQueueAdmin other = second.engine.admin();
            queue.engine.close();
            redis.command("DEL", "dq:{console}:lock:orders");
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> other.job(job.id()).orElseThrow().state() == Job.State.DONE);
            Job done = other.job(job.id()).orElseThrow();

            assertThat(done.done()).isEqualTo(300);
            assertThat(done.missed()).isZero();
            assertThat(done.total()).isEqualTo(300);
            TopicStats stats = other.stats("orders");
            assertThat(stats.dead()).isZero();
            assertThat(stats.waiting()).isEqualTo(300);
            assertThat(stats.counters().redriven()).isEqualTo(300);
        }
    }

    @Test
    void stopsInTheMiddleAndGoesOnWithOneGroup() {
        die("orders", 243);
        String group = admin.groups("orders").groups().get(0).group().key();
        Job job = admin.start(JobRequest.redrive("orders").inGroup(group).perSecond(20));
        await().until(() -> admin.job(job.id()).orElseThrow().done() >= 5);

        assertThat(admin.stopJob(job.id())).isTrue();
        await().until(() -> admin.job(job.id()).orElseThrow().state() == Job.State.STOPPED);
        Job stopped = admin.job(job.id()).orElseThrow();
        assertThat(stopped.done()).isBetween(5L, 80L);
        assertThat(admin.stats("orders").dead() + stopped.done()).isEqualTo(243);

        assertThat(admin.resumeJob(job.id())).isTrue();
        await().atMost(Duration.ofSeconds(30))
                .until(() -> admin.job(job.id()).orElseThrow().state() == Job.State.DONE);
        assertThat(admin.job(job.id()).orElseThrow().done()).isEqualTo(81);
        assertThat(admin.stats("orders").dead()).isEqualTo(162);
        assertThat(admin.stats("orders").waiting()).isEqualTo(81);
    }

    @Test
    void findsPurgesAndGroupsInTheBackground() {
        die("orders", 1_200);

        Job found = finished(admin.start(JobRequest.search("orders", "m000777")));
        assertThat(found.matches()).extracting(DeadLetterRef::id).containsExactly("m000777");
        Job groups = finished(admin.start(JobRequest.group("orders")));
        assertThat(groups.scanned()).isEqualTo(1_200);
        assertThat(groups.groups()).isEqualTo(admin.groups("orders").groups());
        Job purged = finished(admin.start(JobRequest.purge("orders").by("ops", "no use")));
        assertThat(purged.done()).isEqualTo(1_200);
        assertThat(admin.stats("orders").dead()).isZero();
        assertThat(admin.jobs()).extracting(Job::id).contains(found.id(), groups.id(), purged.id());
    }

    private Job finished(Job job) {
        await().atMost(Duration.ofSeconds(30))
                .until(() -> admin.job(job.id()).orElseThrow().state() != Job.State.RUNNING);
        return admin.job(job.id()).orElseThrow();
    }
}
