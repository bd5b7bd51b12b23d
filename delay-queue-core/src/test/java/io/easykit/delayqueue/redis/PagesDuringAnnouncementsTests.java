package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.at;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.memory.InMemoryQueueStore;
import io.easykit.delayqueue.store.Browse;
import io.easykit.delayqueue.store.Browsed;
import io.easykit.delayqueue.store.Claim;
import io.easykit.delayqueue.store.DeadLetterErrors;
import io.easykit.delayqueue.store.Delivery;
import io.easykit.delayqueue.store.Failure;
import io.easykit.delayqueue.store.Position;
import io.easykit.delayqueue.store.QueueBackend;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Test;

/** While dead letters are announced, each of them is on one page, in the order of the times of death and of the ids. */
class PagesDuringAnnouncementsTests {

    private static final int ROUNDS = 40;

    @Test
    void inRedis() {
        try (TestShard shard = new TestShard()) {
            int first = ThreadLocalRandom.current().nextInt(1_000_000);
            for (int seed = first; seed < first + ROUNDS; seed++) {
                shard.empty();
                new Run(shard.store, shard::clock, seed).readInAllWays();
            }
        }
    }

    @Test
    void inMemory() {
        int first = ThreadLocalRandom.current().nextInt(1_000_000);
        for (int seed = first; seed < first + ROUNDS; seed++) {
            AtomicLong micros = new AtomicLong();
            new Run(new InMemoryQueueStore(micros::get), millis -> micros.set(millis * 1000), seed).readInAllWays();
        }
    }

    private static final class Run {

        private final QueueBackend store;
        private final LongConsumer clock;
        private final int seed;
        private final Random random;
        private final List<DeadLetterRef> deaths = new ArrayList<>();

        Run(QueueBackend store, LongConsumer clock, int seed) {
            this.store = store;
            this.clock = clock;
            this.seed = seed;
            this.random = new Random(seed);
        }

        /** Up to sixty deaths, many of them at the same time. */
        private void die() {
            for (int batch = 1; batch <= 4; batch++) {
                clock.accept(1000 + batch);
                for (int i = random.nextInt(16); i > 0; i--) {
                    String id = "m" + random.nextInt(1000) + "-" + batch;
                    store.send(KEY, List.of(at(id, 900, "body")));
                }
                List<Delivery> claimed = store.claim(
                                KEY, new Claim("o", batch, 100, 100, Duration.ofMinutes(1), List.of()))
                        .deliveries();
                store.fail(
                        KEY,
                        claimed.stream()
                                .map(delivery -> new Failure(delivery.lease(), null, "no"))
                                .toList());
                for (Delivery delivery : claimed) {
                    deaths.add(new DeadLetterRef(delivery.id(), Instant.ofEpochMilli(1000 + batch)));
                }
            }
            deaths.sort(Comparator.comparing(DeadLetterRef::diedAt).thenComparing(DeadLetterRef::id));
        }

        private void announceSome() {
            List<DeadLetterRef> some =
                    deaths.stream().filter(death -> random.nextInt(8) == 0).toList();
            store.announced(KEY, some);
        }

        void readInAllWays() {
            die();
            List<String> ids = deaths.stream().map(DeadLetterRef::id).toList();
            List<String> reversed = new ArrayList<>(ids);
            Collections.reverse(reversed);

            assertThat(errors()).as("errors, seed %d", seed).isEqualTo(ids);
            assertThat(browse(false)).as("oldest first, seed %d", seed).isEqualTo(ids);
            assertThat(browse(true)).as("newest first, seed %d", seed).isEqualTo(reversed);
        }

        private List<String> errors() {
            List<String> read = new ArrayList<>();
            Position after = null;
            while (true) {
                DeadLetterErrors page = store.errors(KEY, after, 1 + random.nextInt(9));
                if (page.entries().isEmpty()) {
                    return read;
                }
                for (DeadLetterErrors.Entry entry : page.entries()) {
                    after = entry.position();
                    read.add(after.id());
                }
                announceSome();
            }
        }

        private List<String> browse(boolean newestFirst) {
            List<String> read = new ArrayList<>();
            Position after = null;
            while (true) {
                Browsed page = store.browse(KEY, new Browse(State.DEAD, newestFirst, after, 1 + random.nextInt(9), 0));
                assertThat(page.before()).as("before the page, seed %d", seed).isEqualTo(read.size());
                assertThat(page.total()).isEqualTo(deaths.size());
                if (page.entries().isEmpty()) {
                    return read;
                }
                for (Browsed.Entry entry : page.entries()) {
                    after = entry.position();
                    read.add(after.id());
                }
                announceSome();
            }
        }
    }
}
