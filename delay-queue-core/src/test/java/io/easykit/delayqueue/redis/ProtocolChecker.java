package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.frame;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.easykit.delayqueue.ListenerEndpoint.DeadKeyPolicy;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.admin.StoppedKey;
import io.easykit.delayqueue.memory.InMemoryQueueStore;
import io.easykit.delayqueue.memory.StoreState;
import io.easykit.delayqueue.store.Borrowed;
import io.easykit.delayqueue.store.Browse;
import io.easykit.delayqueue.store.Browsed;
import io.easykit.delayqueue.store.Claim;
import io.easykit.delayqueue.store.Claimed;
import io.easykit.delayqueue.store.Delivery;
import io.easykit.delayqueue.store.Failure;
import io.easykit.delayqueue.store.FlowShare;
import io.easykit.delayqueue.store.Lease;
import io.easykit.delayqueue.store.Lent;
import io.easykit.delayqueue.store.NewMessage;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.QueueStore;
import io.easykit.delayqueue.store.Reschedule;
import io.easykit.delayqueue.store.StoppedKeys;
import io.easykit.delayqueue.store.Target;
import io.easykit.delayqueue.support.DueTime;
import io.easykit.delayqueue.support.NameRules;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Drives one shard with random producers, consumers and an operator over a line that loses, delays and doubles calls, and
 * after every single call
 *
 * <ul>
 *   <li>compares the reply and the whole keyspace, wakeups included, with {@link InMemoryQueueStore}, and
 *   <li>checks the promises of the protocol on the step from the keyspace before to the keyspace after, from the
 *       replies to the callers alone: see {@link Promises}.
 * </ul>
 *
 * At the end everything is drained, and the remaining keys are checked. One seed is one run, always the same.
 */
final class ProtocolChecker implements AutoCloseable {

    private static final String PREFIX = "dq:{t:0}:";
    private static final String CLOCK = "test:clock";
    private static final String WAKEUPS = "test:wakeups";

    /**
     * The whole keyspace: for each key its name, whether it has an end, how many values follow, and these; -1 for one text. A claim's
     * memory is in words. One flat list: Redis sends each list in a list with a system call of its own.
     */
    private static final String DUMP =
            """
            local out, keys = {}, redis.call('KEYS', '*')
            local texts = redis.call('MGET', unpack(keys))
            for i, key in ipairs(keys) do
              local value = texts[i]
              if not value then
                local kind = redis.call('TYPE', key).ok
                if kind == 'hash' then value = redis.call('HGETALL', key)
                elseif kind == 'list' then value = redis.call('LRANGE', key, 0, -1)
                else value = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES') end
              elseif string.find(key, '}:claim:', 1, true) then
                local m = cmsgpack.unpack(value)
                value = string.format('%.0f %.0f ', m[1], m[2]) .. table.concat(m[3], ' ')
              end
              local isText, at = type(value) == 'string', #out
              out[at + 1], out[at + 2] = key, redis.call('PTTL', key) >= 0 and 1 or 0
              out[at + 3] = isText and -1 or #value
              for n, part in ipairs(isText and {value} or value) do out[at + 3 + n] = part end
            end
            return out""";

    /** Permits and places are often used up. */
    private static final FlowShare LIMITS = new FlowShare(70_000, 6, 5);

    private static final Pattern BORROWED = Pattern.compile("borrowed=Borrowed\\[permits=(\\d+), until=(\\d+)]");

    private final ObservedConnection redis = new ObservedConnection(DUMP);
    private final RedisQueueStore real;

    /** @param edit weakens the scripts, or leaves them as they are */
    ProtocolChecker(UnaryOperator<String> edit) {
        this.real = new RedisQueueStore(redis.factory(), "dq:", script -> edit.apply(instrumented(script)));
    }

    private static String instrumented(String script) {
        return script.replace(
                        "redis.call('TIME')",
                        "{math.floor(redis.call('GET', '" + CLOCK + "') / 1000000), redis.call('GET', '" + CLOCK
                                + "') % 1000000}")
                .replace("redis.pcall('PUBLISH', prefix .. 'wakeup',", "redis.pcall('RPUSH', '" + WAKEUPS + "',");
    }

    /** Runs one seed for so many steps, and drains; returns how many calls the store has answered. */
    int run(long seed, int steps) {
        return run(seed, steps, Kind.PLAIN);
    }

    /** What the messages and claims of a run have. */
    enum Kind {
        PLAIN,
        /** Most messages have one of two ordering keys. */
        ORDERED,
        /** Claims have limits, and the clock steps back now and then. */
        LIMITED,
        /** Besides, permits are lent, and claims have borrowed ones. */
        LENDING
    }

    int run(long seed, int steps, Kind kind) {
        redis.beforeNextScript("FLUSHALL");
        Run run = new Run(seed, kind);
        try {
            run.play(steps);
        } catch (AssertionError | RuntimeException e) {
            throw new AssertionError("Seed " + seed + " after " + run.log(), e);
        }
        return run.calls;
    }

    @Override
    public void close() {
        real.close();
        redis.close();
    }

    /** A call of a client: its name and the leases it settles, for reports and promises, and the call itself. */
    private record Call(String name, List<Lease> settled, Function<QueueBackend, Object> on) {
        static Call of(String name, Function<QueueBackend, Object> on) {
            return new Call(name, List.of(), on);
        }
    }

    private static final class Consumer {
        String owner = "";
        long request = 1;
        boolean unanswered;
        FlowShare limits = FlowShare.NONE;
        Borrowed borrowed = Borrowed.NONE;
        final List<Delivery> holds = new ArrayList<>();
    }

    private final class Run {
        private final Random random;
        private final List<String> history = new ArrayList<>();
        private final List<Call> underway = new ArrayList<>();
        private final List<Delivery> everHandedOut = new ArrayList<>();
        private final List<Consumer> consumers =
                IntStream.range(0, 3).mapToObj(i -> new Consumer()).toList();
        private final List<String> rung = new ArrayList<>();
        private final List<String> ids;
        private final boolean isOrdered;
        private final boolean isLimited;
        private final boolean isLending;
        private final Promises promises = new Promises();
        private final InMemoryQueueStore model;
        private Map<String, Object> keyspace = Map.of();
        private long micros = 1_000_000_000L;
        private Borrowed pocket = Borrowed.NONE;
        private int sequence;
        private int calls;

        Run(long seed, Kind kind) {
            random = new Random(seed);
            isOrdered = kind == Kind.ORDERED;
            isLimited = kind == Kind.LIMITED || kind == Kind.LENDING;
            isLending = kind == Kind.LENDING;
            ids = new ArrayList<>(
                    isOrdered
                            ? List.of("~~k~a", "~~k~b", "~~k~c", "~~l~d", "~~l~e", "f")
                            : List.of("a", "b", "c", "d", "e", "f"));
            model = new InMemoryQueueStore(() -> micros);
            model.subscribe(List.of(KEY), (shard, due) -> rung.add(String.valueOf(due.toEpochMilli())));
            consumers.forEach(this::restart);
        }

        List<String> log() {
            return history.subList(Math.max(0, history.size() - 12), history.size());
        }

        void play(int steps) {
            tick(0);
            for (int step = 0; step < steps; step++) {
                if (random.nextInt(3) == 0) {
                    tick(random.nextInt(300_000));
                }
                if (!underway.isEmpty() && random.nextInt(8) == 0) {
                    execute(underway.remove(random.nextInt(underway.size())));
                }
                act();
            }
            drain();
        }

        private void tick(int byMicros) {
            boolean stepsBack = isLimited && random.nextInt(40) == 0;
            micros += stepsBack ? -byMicros : byMicros;
            promises.elapsed += stepsBack ? 0 : byMicros;
            redis.beforeNextScript("SET", CLOCK, String.valueOf(micros));
        }

        private void act() {
            if (isLending && random.nextInt(6) == 0) {
                lend();
            }
            switch (random.nextInt(20)) {
                case 0, 1, 2, 3 -> call(send());
                case 4, 5, 6, 7, 8, 9 -> claim(any(consumers));
                case 10, 11, 12, 13 -> settle(any(consumers));
                case 14 -> call(zombie());
                case 15, 16 -> call(reap(1 + random.nextInt(4)));
                case 17 -> restart(any(consumers));
                default -> call(operate());
            }
        }

        /** One call over the bad line; null is no answer. */
        private @Nullable Object call(Call call) {
            int fate = random.nextInt(100);
            if (fate < 4) {
                history.add("lost: " + call.name);
                return null;
            }
            if (fate < 7) {
                history.add("late: " + call.name);
                underway.add(call);
                return null;
            }
            Object reply = execute(call);
            if (fate < 11) {
                underway.add(call);
            }
            if (fate < 16) {
                history.add("no reply: " + call.name);
                return fate < 14 ? execute(call) : null;
            }
            return reply;
        }

        private Object execute(Call call) {
            history.add("t=" + micros + " " + call.name);
            calls++;
            rung.clear();
            redis.beforeNextScript("DEL", WAKEUPS);
            Object expected = call.on.apply(model);
            Object actual = call.on.apply(real);
            Map<String, Object> before = keyspace;
            keyspace = dump();
            assertThat(actual).as(call.name).isEqualTo(expected);
            assertThat(keyspace).as("keyspace after " + call.name).isEqualTo(StoreState.keyspace(model, KEY));
            promises.check(call, actual, before, keyspace, micros / 1000);
            return actual;
        }

        private Map<String, Object> dump() {
            Map<String, Object> keys = new TreeMap<>();
            List<String> wakeups = List.of();
            Iterator<?> seen = list(redis.seen()).iterator();
            while (seen.hasNext()) {
                String key = text(seen.next());
                Object hasEnd = seen.next();
                int size = ((Long) seen.next()).intValue();
                List<String> values = new ArrayList<>();
                for (int i = 0; i < Math.abs(size); i++) {
                    values.add(text(seen.next()));
                }
                if (key.equals(WAKEUPS)) {
                    wakeups = values;
                } else if (!key.equals(CLOCK)) {
                    if (!key.startsWith(PREFIX)) {
                        fail("key of another shard: " + key);
                    }
                    String name = key.substring(PREFIX.length());
                    boolean ends = name.startsWith("claim:") || name.equals("flow");
                    if (!hasEnd.equals(ends ? 1L : 0L)) {
                        fail("end of " + key);
                    }
                    keys.put(name, size < 0 ? values.get(0) : map(values));
                }
            }
            assertThat(wakeups).as("wakeups").isEqualTo(rung);
            return keys;
        }

        // Producers

        private Call send() {
            List<NewMessage> messages = new ArrayList<>();
            for (int n = 1 + random.nextInt(3); n > 0; n--) {
                String fresh = (isOrdered && sequence % 3 > 0 ? "~~k~g" : "g") + sequence;
                String id = random.nextInt(3) == 0 ? fresh : any(ids.subList(0, 6));
                if (!ids.contains(id)) {
                    ids.add(id);
                }
                messages.add(new NewMessage(id, due(), frame("m" + sequence++ + "-body")));
            }
            return Call.of("send " + messages, store -> store.send(KEY, messages));
        }

        private DueTime due() {
            return random.nextBoolean()
                    ? DueTime.after(Duration.ofMillis(random.nextInt(400)))
                    : DueTime.at(Instant.ofEpochMilli(micros / 1000 - 100 + random.nextInt(400)));
        }

        // Consumers

        private void restart(Consumer consumer) {
            consumer.owner = "o" + sequence++;
            consumer.request = 1;
            consumer.unanswered = false;
            consumer.holds.clear();
        }

        /** Of the same shard: its bucket loses what the next claim has besides. */
        private void lend() {
            FlowShare limits = limits();
            FlowShare share = limits.stepMicros() == 0 ? LIMITS : limits;
            int most = 1 + random.nextInt(3);
            Object reply = call(Call.of("lend " + share + " " + most, store -> store.lend(KEY, share, most)));
            if (reply instanceof Lent lent) {
                pocket = new Borrowed(lent.permits(), lent.now().toEpochMilli() + Lent.LAPSE_MILLIS);
                call(send());
                call(send());
                if (random.nextInt(4) == 0) {
                    tick(random.nextInt(250_000)); // so some of them lapse
                }
                claim(any(consumers));
            }
        }

        private void claim(Consumer consumer) {
            FlowShare limits = isLimited ? limits() : FlowShare.NONE;
            if (!consumer.unanswered) {
                consumer.request++;
                consumer.limits = limits; // those of a repetition are the same
                consumer.borrowed = pocket;
                pocket = Borrowed.NONE;
            }
            List<Lease> done = random.nextBoolean() ? some(consumer) : List.of();
            int count = 1 + random.nextInt(isLimited ? 8 : 4);
            // A repetition that fits in part is rare by chance, and has to return or keep permits.
            boolean repeatsInPart = isLimited && consumer.unanswered && (isLending || random.nextInt(4) > 0);
            Claim claim = new Claim(
                    consumer.owner,
                    consumer.request,
                    count,
                    random.nextInt(count + 1),
                    Duration.ofMillis(60 + random.nextInt(440)),
                    random.nextInt(3) > 0 && !repeatsInPart ? Claim.MOST_BYTES : 1 + random.nextInt(150),
                    consumer.limits,
                    done,
                    consumer.borrowed);
            Object reply = call(new Call(claim.toString(), done, store -> store.claim(KEY, claim)));
            consumer.unanswered = reply == null;
            if (reply instanceof Claimed claimed) {
                forget(consumer, done);
                consumer.holds.addAll(claimed.deliveries());
                everHandedOut.addAll(claimed.deliveries());
            }
        }

        /** Those of the topic, or now and then those of a node with other settings: lower ones, or one limit alone. */
        private FlowShare limits() {
            return switch (random.nextInt(8)) {
                case 0 -> new FlowShare(LIMITS.stepMicros() * 2, 1, 2);
                case 1 -> new FlowShare(0, 0, LIMITS.places());
                case 2 -> new FlowShare(LIMITS.stepMicros(), LIMITS.burst(), 0);
                default -> LIMITS;
            };
        }

        private void settle(Consumer consumer) {
            List<Lease> leases = some(consumer);
            Call call = settling(leases);
            if (call(call) != null && !call.name.startsWith("extend")) {
                forget(consumer, leases);
            }
        }

        /** A consumer that stalled for long settles a message that was once handed out to it. */
        private Call zombie() {
            return settling(
                    everHandedOut.isEmpty()
                            ? List.of()
                            : List.of(any(everHandedOut).lease()));
        }

        private Call settling(List<Lease> leases) {
            Duration lease = Duration.ofMillis(60 + random.nextInt(440));
            return switch (random.nextInt(leases.isEmpty() ? 6 : 7)) {
                case 0, 1 -> new Call("acknowledge " + leases, leases, store -> store.acknowledge(KEY, leases));
                case 2, 3 -> {
                    List<Failure> failures = leases.stream()
                            .map(l -> new Failure(l, retry(), "error" + sequence++, policy()))
                            .toList();
                    yield new Call("fail " + failures, leases, store -> store.fail(KEY, failures));
                }
                case 4 -> new Call("release " + leases, leases, store -> store.release(KEY, leases));
                case 6 -> {
                    DeadKeyPolicy policy = policy();
                    yield new Call(
                            "give up " + leases + policy,
                            leases,
                            store -> store.giveUp(KEY, leases, 3, Duration.ZERO, policy));
                }
                default -> new Call("extend " + leases + lease, leases, store -> store.extend(KEY, leases, lease));
            };
        }

        private DeadKeyPolicy policy() {
            return isOrdered && random.nextBoolean() ? DeadKeyPolicy.SKIP : DeadKeyPolicy.STOP;
        }

        private @Nullable Duration retry() {
            return random.nextInt(4) == 0 ? null : Duration.ofMillis(random.nextInt(300));
        }

        /** Some of the consumer's leases, now and then one twice. */
        private List<Lease> some(Consumer consumer) {
            List<Lease> leases = new ArrayList<>();
            for (Delivery delivery : consumer.holds) {
                if (random.nextInt(3) > 0) {
                    leases.add(delivery.lease());
                }
            }
            if (!leases.isEmpty() && random.nextInt(6) == 0) {
                leases.add(leases.get(0));
            }
            return leases;
        }

        private static void forget(Consumer consumer, List<Lease> leases) {
            consumer.holds.removeIf(delivery -> leases.contains(delivery.lease()));
        }

        // Operators

        private Call reap(int count) {
            Duration delay = random.nextBoolean() ? Duration.ZERO : Duration.ofMillis(random.nextInt(100));
            DeadKeyPolicy policy = policy();
            // Some leases that are over are not to be taken, as after a step ahead of the clock.
            Instant until = isLimited || random.nextInt(3) > 0
                    ? QueueStore.ANY_END
                    : Instant.ofEpochMilli(micros / 1000 - random.nextInt(200));
            return Call.of(
                    "reap " + count + delay + policy + until, store -> store.reap(KEY, count, 3, delay, policy, until));
        }

        /** A key that a dead letter has stopped, or one that another message holds, or nobody. */
        private Call freeKey() {
            List<StoppedKey> stopped = model.stoppedKeys(KEY, StoppedKeys.BEGIN).keys();
            boolean isStopped = !stopped.isEmpty() && random.nextInt(4) > 0;
            String id = isStopped ? stopped.get(0).id() : any(ids);
            String key = NameRules.orderingKey(id);
            return key == null
                    ? Call.of("stopped keys", store -> sorted(store.stoppedKeys(KEY, StoppedKeys.BEGIN)))
                    : Call.of("free key of " + id, store -> store.freeKey(KEY, key, id));
        }

        /** Redis returns them in the order of a hash, which is any. */
        private static StoppedKeys sorted(StoppedKeys page) {
            return new StoppedKeys(
                    page.next(),
                    page.keys().stream()
                            .sorted(Comparator.comparing(StoppedKey::key))
                            .toList());
        }

        private Call operate() {
            if (isOrdered && random.nextInt(5) == 0) {
                return freeKey();
            }
            return switch (random.nextInt(13)) {
                case 0, 1, 2 -> {
                    List<Target> targets = List.of(target(), target());
                    yield Call.of("cancel " + targets, store -> store.cancel(KEY, targets));
                }
                case 3, 4 -> {
                    List<Reschedule> moves = List.of(new Reschedule(target(), due()), new Reschedule(target(), due()));
                    yield Call.of("reschedule " + moves, store -> store.reschedule(KEY, moves));
                }
                case 5, 6, 7 -> {
                    List<DeadLetterRef> deaths = deaths();
                    yield Call.of("redrive " + deaths, store -> store.redrive(KEY, deaths));
                }
                case 8 -> {
                    List<DeadLetterRef> deaths = deaths();
                    yield Call.of("purge " + deaths, store -> store.purge(KEY, deaths));
                }
                case 9 -> {
                    Duration age = Duration.ofMillis(random.nextInt(1000));
                    yield Call.of("purge " + age, store -> store.purge(KEY, age, 2));
                }
                case 11 -> {
                    List<DeadLetterRef> deaths = deaths();
                    yield Call.of("announced " + deaths, store -> store.announced(KEY, deaths));
                }
                case 10 ->
                    random.nextInt(3) == 0
                            ? Call.of("pause", store -> store.pause(KEY, "ops"))
                            : Call.of("resume", store -> store.resume(KEY));
                default -> {
                    State place = any(List.of(State.values()));
                    String id = any(ids);
                    Browse first = new Browse(place, random.nextBoolean(), null, 3, 3);
                    yield Call.of(
                            "look",
                            store -> List.of(
                                    store.stats(KEY),
                                    pages(store, first),
                                    store.errors(KEY, null, 2),
                                    store.find(KEY, id)));
                }
            };
        }

        /** Two pages, the second behind the first. */
        private static List<Browsed> pages(QueueBackend store, Browse first) {
            Browsed page = store.browse(KEY, first);
            List<Browsed.Entry> entries = page.entries();
            return entries.isEmpty()
                    ? List.of(page)
                    : List.of(
                            page,
                            store.browse(
                                    KEY,
                                    new Browse(
                                            first.place(),
                                            first.newestFirst(),
                                            entries.get(0).position(),
                                            first.count(),
                                            first.frameBytes())));
        }

        private Target target() {
            String id = any(ids);
            boolean life = random.nextInt(3) == 0;
            String body = "m" + random.nextInt(Math.max(1, sequence)) + "-body";
            return new Target(id, life ? frame(body.substring(0, Math.min(Long.BYTES, body.length()))) : null);
        }

        /** Deaths that an operator sees, or remembers from a while ago; now and then one that never was. */
        private List<DeadLetterRef> deaths() {
            List<DeadLetterRef> deaths = new ArrayList<>(promises.remembered(random));
            for (Browsed.Entry dead : model.browse(KEY, new Browse(State.DEAD, false, null, 5, 512))
                    .entries()) {
                deaths.add(new DeadLetterRef(dead.id(), dead.at().minusMillis(random.nextInt(4) == 0 ? 1 : 0)));
            }
            deaths.removeIf(death -> random.nextInt(3) == 0);
            return deaths;
        }

        private <T> T any(List<T> list) {
            return list.get(random.nextInt(list.size()));
        }

        /** All work is done by one healthy consumer, all dead letters are purged: nothing may remain. */
        private void drain() {
            underway.clear();
            execute(Call.of("resume", store -> store.resume(KEY)));
            Consumer last = new Consumer();
            restart(last);
            for (int round = 0; model.stats(KEY).counters().sent() > 0 && !isEmpty(); round++) {
                assertThat(round).as("rounds until empty").isLessThan(200);
                tick(500_000);
                execute(reap(QueueStore.MAX_BATCH));
                Claim claim = new Claim(last.owner, ++last.request, 20, 20, Duration.ofMillis(100), List.of());
                Claimed claimed = (Claimed) execute(Call.of("claim", store -> store.claim(KEY, claim)));
                List<Lease> done =
                        claimed.deliveries().stream().map(Delivery::lease).toList();
                execute(new Call("acknowledge", done, store -> store.acknowledge(KEY, done)));
                execute(Call.of("purge", store -> store.purge(KEY, Duration.ZERO, 20)));
            }
            assertThat(keyspace.keySet()).allMatch(key -> key.matches("count:.*|settings|flow|claim:.*"));
        }

        private boolean isEmpty() {
            return keyspace.keySet().stream().noneMatch(key -> key.matches("waiting|inflight|dead"));
        }
    }

    /**
     * The promises of the protocol, checked without use of its implementation. The holder of a message follows from the replies
     * to claims. Each of them is an event of its own, even if its number was used before.
     */
    private static final class Promises {
        private final Map<Long, String> handedOut = new HashMap<>();
        private final List<DeadLetterRef> deaths = new ArrayList<>();
        private final Map<String, Map<String, Long>> begun = new LinkedHashMap<>();
        private final Set<Long> limited = new HashSet<>();
        private final List<Long> lent = new ArrayList<>();
        private final Map<String, Integer> paid = new HashMap<>();
        private long elapsed;

        List<DeadLetterRef> remembered(Random random) {
            return deaths.isEmpty() ? List.of() : List.of(deaths.get(random.nextInt(deaths.size())));
        }

        void check(Call call, Object reply, Map<String, Object> before, Map<String, Object> after, long now) {
            eachLiveIdIsInOnePlaceWithAllItNeeds(after);
            theLedgerIsBalanced(after);
            noOrderingKeyIsStuck(after);
            if (reply instanceof Claimed claimed) {
                numbersAreNeverGivenTwice(call, claimed);
                nothingIsEarly(claimed, before, now);
                messagesOfAKeyComeInTurn(claimed, before, after);
                noMoreBeginThanTheLimitsAllow(call, claimed, before, after, now);
            }
            if (reply instanceof Lent some) {
                onlyWhatIsNotNeededIsLent(some, before, now);
            }
            onlyTheHolderSettles(call, before, after, now);
            nothingComesOrGoesUnasked(call, before, after);
            map(after, "dead").forEach((id, at) -> {
                assertThat(map(after, "state")).as("dead " + id).containsKey(id);
                assertThat(map(after, "errors")).as("dead " + id).containsKeys("F" + id, "L" + id);
                DeadLetterRef death = new DeadLetterRef(id, Instant.ofEpochMilli(Long.parseLong(at.replace(".5", ""))));
                if (!deaths.contains(death)) {
                    deaths.add(death);
                }
            });
        }

        private static void eachLiveIdIsInOnePlaceWithAllItNeeds(Map<String, Object> keys) {
            Set<String> live = new HashSet<>();
            for (String place : List.of("waiting", "inflight", "dead")) {
                for (String id : map(keys, place).keySet()) {
                    if (!live.add(id)) {
                        fail(id + " is in two places");
                    }
                    if (!keys.containsKey("m:" + id)) {
                        fail("no body of " + id);
                    }
                }
            }
            assertThat(map(keys, "inflight").keySet())
                    .isSubsetOf(map(keys, "state").keySet());
            assertThat(live).containsAll(map(keys, "state").keySet());
            assertThat(map(keys, "errors").keySet()).allMatch(field -> live.contains(field.substring(1)));
            assertThat(keys.keySet()).allMatch(key -> !key.startsWith("m:") || live.contains(key.substring(2)));
        }

        private static void theLedgerIsBalanced(Map<String, Object> keys) {
            long ended = counted(keys, "acknowledged") + counted(keys, "cancelled") + counted(keys, "purged");
            int live = map(keys, "waiting").size()
                    + map(keys, "inflight").size()
                    + map(keys, "dead").size();
            assertThat(ended + live).as("ledger").isEqualTo(counted(keys, "sent"));
        }

        /** Of each key one message is in flight at most. A key that nobody holds has a message that waits before all parked ones. */
        private static void noOrderingKeyIsStuck(Map<String, Object> keys) {
            Map<String, String> waiting = map(keys, "waiting");
            Map<String, String> held = map(keys, "held");
            held.forEach((key, id) -> {
                assertThat(NameRules.orderingKey(id)).isEqualTo(key);
                assertThat(map(keys, "state")).as("holder of " + key).containsKey(id);
            });
            assertThat(map(keys, "inflight").keySet())
                    .as("one message in flight for each key, the holder")
                    .allMatch(id -> NameRules.orderingKey(id) == null
                            || id.equals(held.get(requireNonNull(NameRules.orderingKey(id)))));
            for (String key : List.of("k", "l")) {
                Set<String> parked = map(keys, "parked:" + key).keySet();
                List<String> all = waiting.keySet().stream()
                        .filter(id -> key.equals(NameRules.orderingKey(id)))
                        .sorted(inTurn(waiting))
                        .toList();
                assertThat(all.stream().filter(id -> isParked(waiting, id)))
                        .as("parked of " + key)
                        .containsExactlyInAnyOrderElementsOf(parked);
                if (!held.containsKey(key) && !all.isEmpty()) {
                    assertThat(parked).as("parked of the free key " + key).doesNotContain(all.get(0));
                }
            }
        }

        /** A message whose key nobody held comes before all others of the key that wait. */
        private static void messagesOfAKeyComeInTurn(
                Claimed claimed, Map<String, Object> before, Map<String, Object> after) {
            Map<String, String> waiting = map(before, "waiting");
            Set<String> seen = new HashSet<>();
            for (Delivery delivery : claimed.deliveries()) {
                String key = NameRules.orderingKey(delivery.id());
                if (key == null) {
                    continue;
                }
                assertThat(seen.add(key))
                        .as("messages of " + key + " in one claim")
                        .isTrue();
                assertThat(map(after, "held")).containsEntry(key, delivery.id());
                String holder = map(before, "held").get(key);
                boolean hasEnded = holder == null || !map(after, "state").containsKey(holder);
                assertThat(hasEnded || delivery.id().equals(holder))
                        .as(delivery.id() + " while " + holder + " holds " + key)
                        .isTrue();
                if (hasEnded) {
                    assertThat(waiting.keySet().stream()
                                    .filter(id -> key.equals(NameRules.orderingKey(id)))
                                    .min(inTurn(waiting)))
                            .as("first of " + key)
                            .hasValue(delivery.id());
                }
            }
        }

        private static Comparator<String> inTurn(Map<String, String> waiting) {
            return Comparator.comparingLong((String id) -> due(waiting, id)).thenComparing(id -> id);
        }

        private static boolean isParked(Map<String, String> waiting, String id) {
            return number(waiting, id) >= 1L << 52;
        }

        private static long due(Map<String, String> waiting, String id) {
            return number(waiting, id) & ((1L << 52) - 1);
        }

        /** The same number again is the same message for the same request of the same owner, or a grave mistake. */
        private void numbersAreNeverGivenTwice(Call call, Claimed claimed) {
            String request = call.name.replaceAll(", count.*", "");
            for (Delivery delivery : claimed.deliveries()) {
                String holder = delivery.id() + " to " + request;
                assertThat(handedOut.merge(delivery.number(), holder, (first, again) -> first))
                        .as("holder of number " + delivery.number())
                        .isEqualTo(holder);
            }
        }

        /** In each time since any of them, at most the burst and those of that time, whatever becomes of replies and repetitions. */
        private void noMoreBeginThanTheLimitsAllow(
                Call call, Claimed claimed, Map<String, Object> before, Map<String, Object> after, long now) {
            if (!call.name.contains("stepMicros=")) {
                return;
            }
            Map<String, Long> ofThis =
                    begun.computeIfAbsent(call.name.replaceAll(", count.*", ""), request -> new HashMap<>());
            // A repeated claim has put back those that no longer fitted into its reply.
            ofThis.keySet()
                    .removeIf(id -> map(before, "inflight").containsKey(id)
                            && !map(after, "inflight").containsKey(id)
                            && map(after, "waiting").containsKey(id)
                            && !call.settled.stream().map(Lease::id).toList().contains(id));
            if (!claimed.deliveries().isEmpty()) {
                paid.putIfAbsent(call.name.replaceAll(", count.*", ""), borrowed(call, now));
            }
            boolean isNew = false;
            for (Delivery delivery : claimed.deliveries()) {
                isNew |= limited.add(delivery.number());
                if (!call.name.contains("stepMicros=0,")) {
                    ofThis.putIfAbsent(delivery.id(), elapsed);
                }
            }
            requireRate();
            if (isNew && !call.name.contains("places=0]")) {
                assertThat(map(after, "inflight")).as("messages in flight").hasSizeLessThanOrEqualTo(LIMITS.places());
            }
        }

        /** The permits that a claim has besides, if they have not lapsed. */
        private static int borrowed(Call call, long now) {
            Matcher borrowed = BORROWED.matcher(call.name);
            assertThat(borrowed.find()).isTrue();
            long left = Long.parseLong(borrowed.group(2)) - now;
            return left >= 0 && left <= Lent.LAPSE_MILLIS ? Integer.parseInt(borrowed.group(1)) : 0;
        }

        private void onlyWhatIsNotNeededIsLent(Lent some, Map<String, Object> before, long now) {
            if (some.permits() > 0) {
                assertThat(map(before, "waiting").keySet())
                        .as("messages that are due")
                        .noneMatch(id -> due(map(before, "waiting"), id) <= now);
            }
            lent.addAll(Collections.nCopies(some.permits(), elapsed));
            requireRate();
        }

        /** What is lent counts when it is taken. So many messages of the claim that has it count no more. */
        private void requireRate() {
            List<Long> times = new ArrayList<>(lent);
            begun.forEach((request, ids) -> ids.values().stream()
                    .sorted()
                    .skip(paid.getOrDefault(request, 0))
                    .forEach(times::add));
            Collections.sort(times);
            for (int i = 0; i < times.size(); i++) {
                long since = elapsed - times.get(i);
                assertThat(times.size() - i)
                        .as("permits that were used within " + since + " us")
                        .isLessThanOrEqualTo((int) (LIMITS.burst() + since / LIMITS.stepMicros()));
            }
        }

        private static void nothingIsEarly(Claimed claimed, Map<String, Object> before, long now) {
            for (Delivery delivery : claimed.deliveries()) {
                assertThat(due(map(before, "waiting"), delivery.id()))
                        .as("due time of " + delivery.id())
                        .isLessThanOrEqualTo(now);
            }
        }

        /** A message in flight under an unexpired lease moves or changes only by a call with its delivery number. */
        private static void onlyTheHolderSettles(
                Call call, Map<String, Object> before, Map<String, Object> after, long now) {
            boolean replayed = call.name.startsWith("Claim[");
            map(before, "inflight").forEach((id, end) -> {
                String state = map(before, "state").getOrDefault(id, "");
                String stateAfter = map(after, "state").get(id);
                String endAfter = map(after, "inflight").get(id);
                boolean same = end.equals(endAfter) && state.equals(stateAfter);
                if (same) {
                    return;
                }
                String[] parts = state.split(":", 6);
                boolean held = call.settled.contains(new Lease(id, Long.parseLong(parts[0])));
                boolean reaped = call.name.startsWith("reap") && Long.parseLong(end) <= now;
                boolean renewed = replayed && call.name.contains("owner=" + parts[5] + ",") && state.equals(stateAfter);
                assertThat(held || reaped || renewed)
                        .as(id + " " + state + " became " + stateAfter + " by " + call.name)
                        .isTrue();
            });
        }

        private static void nothingComesOrGoesUnasked(
                Call call, Map<String, Object> before, Map<String, Object> after) {
            bodiesOnlyIn(after, before)
                    .forEach(id -> assertThat(call.name).as(id + " came").startsWith("send"));
            bodiesOnlyIn(before, after).forEach(id -> {
                boolean acknowledged = map(before, "inflight").containsKey(id) && !call.settled.isEmpty();
                boolean cancelled = map(before, "waiting").containsKey(id) && call.name.startsWith("cancel");
                boolean purged = map(before, "dead").containsKey(id) && call.name.startsWith("purge");
                assertThat(acknowledged || cancelled || purged)
                        .as(id + " went by " + call.name)
                        .isTrue();
            });
        }

        private static List<String> bodiesOnlyIn(Map<String, Object> keys, Map<String, Object> others) {
            List<String> ids = new ArrayList<>();
            for (String key : keys.keySet()) {
                if (key.startsWith("m:") && !others.containsKey(key)) {
                    ids.add(key.substring(2));
                }
            }
            return ids;
        }

        private static long number(Map<String, String> map, String field) {
            return Long.parseLong(map.getOrDefault(field, "0"));
        }

        private static long counted(Map<String, Object> keys, String counter) {
            return Long.parseLong((String) keys.getOrDefault("count:" + counter, "0"));
        }
    }

    @SuppressWarnings("unchecked")
    private static Map<String, String> map(Map<String, Object> keys, String key) {
        return (Map<String, String>) keys.getOrDefault(key, Map.of());
    }

    private static Map<String, String> map(List<String> pairs) {
        Map<String, String> map = new TreeMap<>();
        for (int i = 0; i < pairs.size(); i += 2) {
            map.put(pairs.get(i), pairs.get(i + 1));
        }
        return map;
    }

    private static List<?> list(@Nullable Object reply) {
        return (List<?>) requireNonNull(reply);
    }

    private static String text(@Nullable Object bulk) {
        return new String((byte[]) requireNonNull(bulk), UTF_8);
    }
}
