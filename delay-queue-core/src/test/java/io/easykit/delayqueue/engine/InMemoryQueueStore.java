package io.easykit.delayqueue.engine;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.easykit.delayqueue.AlertLimits;
import io.easykit.delayqueue.Bytes;
import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.DueTime;
import io.easykit.delayqueue.MessageInfo.ErrorNote;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.ShardStats;
import io.easykit.delayqueue.ShardStats.Pause;
import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.admin.Replacement;
import io.easykit.delayqueue.store.AlertReport;
import io.easykit.delayqueue.store.Browse;
import io.easykit.delayqueue.store.Browsed;
import io.easykit.delayqueue.store.Claim;
import io.easykit.delayqueue.store.ClaimStatus;
import io.easykit.delayqueue.store.Claimed;
import io.easykit.delayqueue.store.DeadLetterErrors;
import io.easykit.delayqueue.store.Delivery;
import io.easykit.delayqueue.store.Failure;
import io.easykit.delayqueue.store.FleetStore;
import io.easykit.delayqueue.store.JobStore;
import io.easykit.delayqueue.store.Lease;
import io.easykit.delayqueue.store.LostLease;
import io.easykit.delayqueue.store.NewMessage;
import io.easykit.delayqueue.store.Position;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.Reaped;
import io.easykit.delayqueue.store.Repaired;
import io.easykit.delayqueue.store.Replicated;
import io.easykit.delayqueue.store.Reschedule;
import io.easykit.delayqueue.store.Settlement;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.StoredMessage;
import io.easykit.delayqueue.store.StoredMessage.History;
import io.easykit.delayqueue.store.Subscription;
import io.easykit.delayqueue.store.Target;
import io.easykit.delayqueue.store.WakeupListener;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A second store, in plain Java, for tests of the engine; and the model that the first is compared with. It is written from
 * the contract of {@link QueueBackend}, one message an object, and not from the scripts.
 */
public final class InMemoryQueueStore implements QueueBackend {

    private final LongSupplier micros;
    private final Map<ShardKey, Shard> shards = new HashMap<>();
    private final Map<String, Integer> declared = new HashMap<>();
    private final List<Subscriber> subscribers = new CopyOnWriteArrayList<>();
    private final InMemoryFleetStore fleet;
    private final InMemoryJobStore jobs;
    private volatile int replicas;

    /** @param micros the store's clock, in microseconds since the epoch */
    public InMemoryQueueStore(LongSupplier micros) {
        this.micros = micros;
        this.fleet = new InMemoryFleetStore(micros, this::stats);
        this.jobs = new InMemoryJobStore(micros);
    }

    @Override
    public FleetStore fleet() {
        return fleet;
    }

    /** How many replicas confirm what is sent from now on. */
    void replicas(int count) {
        replicas = count;
    }

    @Override
    public Replicated sendReplicated(ShardKey shard, List<NewMessage> messages, ReplicaWait wait) {
        return new Replicated(send(shard, messages), replicas);
    }

    private record Subscriber(Set<ShardKey> shards, WakeupListener listener) {}

    private record Answer(long request, List<Lease> leases) {}

    /** A claim to report that an alert was raised or resolved, or a raised one whose report is confirmed. */
    private record Alert(String change, String token, long claimedUntil, long keptUntil) {

        boolean isRaised() {
            return change.equals("raised");
        }

        boolean isBy(AlertReport report) {
            return token.equals(report.token());
        }
    }

    /** One live message. */
    private static final class Message {
        final String id;

        Bytes frame;

        State place = State.WAITING;
        long at;

        @Nullable Past past;

        @Nullable ErrorNote first;

        @Nullable ErrorNote last;

        Message(String id, Bytes frame, long at) {
            this.id = id;
            this.frame = frame;
            this.at = at;
        }

        boolean isHeldUnder(long number) {
            return place == State.IN_FLIGHT && past != null && past.number == number;
        }

        Past past() {
            if (past == null) {
                past = new Past();
            }
            return past;
        }

        void move(State to, long when) {
            place = to;
            at = when;
        }

        void note(long now, String text) {
            byte[] bytes = text.getBytes(UTF_8);
            String cut = new String(Arrays.copyOf(bytes, Math.min(bytes.length, 4096)), UTF_8);
            last = new ErrorNote(Instant.ofEpochMilli(now), past().owner, cut);
            first = first == null ? last : first;
        }
    }

    private static final class Past {
        long number;
        int failures;
        int lost;
        int releases;
        long due;
        String owner = "";

        History history() {
            return new History(number, failures, lost, releases, Instant.ofEpochMilli(due), owner);
        }
    }

    private static final class Shard {
        final Map<String, Message> live = new TreeMap<>();
        final Map<String, Answer> answers = new TreeMap<>();
        final Map<String, Long> counters = new TreeMap<>();
        final Map<String, Alert> alerts = new HashMap<>();
        long lastNumber;

        @Nullable Pause pause;

        @Nullable Alert alert(String name, long now) {
            Alert alert = alerts.get(name);
            return alert == null || alert.keptUntil <= now ? null : alert;
        }

        List<Message> in(State place) {
            return live.values().stream()
                    .filter(m -> m.place == place)
                    .sorted(Comparator.comparingLong((Message m) -> m.at).thenComparing(m -> m.id))
                    .toList();
        }

        @Nullable Long first(State place) {
            List<Message> all = in(place);
            return all.isEmpty() ? null : all.get(0).at;
        }

        void count(String counter, long n) {
            if (n > 0) {
                counters.merge(counter, n, Long::sum);
            }
        }

        long counter(String name) {
            return counters.getOrDefault(name, 0L);
        }
    }

    private long now() {
        return Math.floorDiv(micros.getAsLong(), 1000L);
    }

    private long nowCeil() {
        return -Math.floorDiv(-micros.getAsLong(), 1000L);
    }

    private long parseDue(DueTime due) {
        return due.relative() ? nowCeil() + due.millis() : due.millis();
    }

    /** What an operator does by mistake. */
    synchronized void deleteBody(ShardKey key, String id) {
        Objects.requireNonNull(shard(key).live.get(id)).frame = Bytes.of(new byte[0]);
    }

    /** As a key of counters that was deleted. */
    synchronized void resetCounters(ShardKey key) {
        shard(key).counters.clear();
    }

    private Shard shard(ShardKey key) {
        return shards.computeIfAbsent(key, k -> new Shard());
    }

    private static @Nullable Instant instant(@Nullable Long millis) {
        return millis == null ? null : Instant.ofEpochMilli(millis);
    }

    private static long ceilingMillis(Duration duration) {
        return DueTime.in(duration).millis();
    }

    private void notifyConsumers(ShardKey key, @Nullable Long earliestDue, List<Long> arrivals) {
        if (arrivals.isEmpty()) {
            return;
        }
        long earliest = arrivals.stream().mapToLong(Long::longValue).min().getAsLong();
        boolean knownBefore = earliestDue != null && (earliestDue <= now() || earliestDue <= earliest);
        if (!knownBefore) {
            subscribers.stream()
                    .filter(subscriber -> subscriber.shards.contains(key))
                    .forEach(subscriber -> subscriber.listener.onEarlierDue(key, Instant.ofEpochMilli(earliest)));
        }
    }

    @Override
    public void prepare() {}

    @Override
    public synchronized int declare(String topic, int count) {
        return declared.computeIfAbsent(topic, t -> count);
    }

    /** As if somebody had deleted the settings. */
    synchronized void forget(String topic) {
        declared.remove(topic);
    }

    /** Changes the count by hand. */
    synchronized void redeclare(String topic, int count) {
        declared.put(topic, count);
    }

    @Override
    public synchronized int declared(String topic) {
        return declared.getOrDefault(topic, 0);
    }

    @Override
    public synchronized List<SendOutcome> send(ShardKey key, List<NewMessage> messages) {
        Shard shard = shard(key);
        Long earliestDue = shard.first(State.WAITING);
        List<SendOutcome> outcomes = new ArrayList<>();
        List<Long> arrivals = new ArrayList<>();
        for (NewMessage message : messages) {
            Message live = shard.live.get(message.id());
            if (live == null) {
                long due = parseDue(message.due());
                shard.live.put(message.id(), new Message(message.id(), message.frame(), due));
                shard.count("sent", 1);
                arrivals.add(due);
                outcomes.add(SendOutcome.STORED);
            } else {
                outcomes.add(message.frame().equals(live.frame) ? SendOutcome.REPLAYED : SendOutcome.DUPLICATE);
            }
        }
        notifyConsumers(key, earliestDue, arrivals);
        return outcomes;
    }

    @Override
    public synchronized Claimed claim(ShardKey key, Claim claim) {
        Shard shard = shard(key);
        List<Settlement> acknowledged = acknowledge(key, claim.acknowledged());
        Answer last = shard.answers.get(claim.owner());
        List<Delivery> deliveries = new ArrayList<>();
        ClaimStatus status = ClaimStatus.CLAIMED;
        if (last != null && last.request > claim.request()) {
            status = ClaimStatus.OUTDATED;
        } else if (last != null && last.request == claim.request()) {
            deliveries.addAll(again(shard, last, claim));
        } else if (shard.pause != null) {
            status = ClaimStatus.PAUSED;
        } else {
            deliveries.addAll(handOut(shard, claim));
        }
        return new Claimed(
                Instant.ofEpochMilli(now()),
                status,
                shard.pause != null ? null : instant(shard.first(State.WAITING)),
                instant(shard.first(State.IN_FLIGHT)),
                acknowledged,
                deliveries);
    }

    private List<Delivery> again(Shard shard, Answer last, Claim claim) {
        List<Message> held = new ArrayList<>();
        for (Lease handedOut : last.leases) {
            Message message = shard.live.get(handedOut.id());
            if (message != null && message.isHeldUnder(handedOut.number())) {
                held.add(message);
            }
        }
        int fitting = fitting(held, claim.bytes());
        held.subList(fitting, held.size()).forEach(message -> message.move(State.WAITING, message.past().due));
        List<Delivery> deliveries = new ArrayList<>();
        for (Message message : held.subList(0, fitting)) {
            message.at = Math.max(message.at, now() + ceilingMillis(claim.lease()));
            deliveries.add(delivery(message, claim.bytes()));
        }
        return deliveries;
    }

    /** How many of the messages fit into so many bytes; a large one counts as a quarter of them. */
    private static int fitting(List<Message> messages, int bytes) {
        long quarters = 0;
        for (int i = 0; i < messages.size(); i++) {
            quarters += Math.min(4L * messages.get(i).frame.length(), bytes);
            if (quarters > 4L * bytes) {
                return i;
            }
        }
        return messages.size();
    }

    private static boolean isLarge(int size, int bytes) {
        return size * 4L > bytes;
    }

    @Override
    public synchronized Optional<Bytes> read(ShardKey key, String id, Bytes life, int from, int count) {
        Message message = shard(key).live.get(id);
        if (message == null || !isLife(message.frame, life) || from >= message.frame.length()) {
            return Optional.empty();
        }
        byte[] frame = message.frame.array();
        return Optional.of(Bytes.of(Arrays.copyOfRange(frame, from, Math.min(frame.length, from + count))));
    }

    private List<Delivery> handOut(Shard shard, Claim claim) {
        List<Delivery> deliveries = new ArrayList<>();
        List<Lease> leases = new ArrayList<>();
        for (Message message : due(shard, claim)) {
            shard.lastNumber = Math.max(shard.lastNumber + 1, micros.getAsLong());
            Past past = message.past();
            past.number = shard.lastNumber;
            past.due = message.at;
            past.owner = claim.owner();
            leases.add(new Lease(message.id, past.number));
            message.move(State.IN_FLIGHT, now() + ceilingMillis(claim.lease()));
            deliveries.add(delivery(message, claim.bytes()));
        }
        if (!deliveries.isEmpty()) {
            shard.answers.put(claim.owner(), new Answer(claim.request(), leases));
        }
        return deliveries;
    }

    private List<Message> due(Shard shard, Claim claim) {
        List<Message> due = shard.in(State.WAITING).stream()
                .filter(message -> message.at <= now())
                .limit(claim.count())
                .toList();
        long innocent = due.stream()
                .takeWhile(message -> message.past == null || message.past.lost == 0)
                .count();
        List<Message> allowed = innocent == due.size()
                ? due
                : due.subList(0, Math.min(due.size(), Math.max((int) innocent, claim.besideLost())));
        return allowed.subList(0, fitting(allowed, claim.bytes()));
    }

    private static Delivery delivery(Message message, int bytes) {
        Past past = message.past();
        boolean large = isLarge(message.frame.length(), bytes);
        return new Delivery(
                message.id,
                past.number,
                Instant.ofEpochMilli(past.due),
                past.failures,
                past.lost,
                past.releases,
                large ? Bytes.NONE : message.frame,
                large ? message.frame.length() : 0);
    }

    /** What to do with a message that is held under the number that somebody names. */
    private interface Settling {
        void settle(Message message, Past past);
    }

    private static Settlement settle(Shard shard, Lease lease, Settling settling) {
        Message message = shard.live.get(lease.id());
        if (message == null || message.past == null) {
            return Settlement.GONE;
        }
        if (!message.isHeldUnder(lease.number())) {
            return Settlement.STALE;
        }
        settling.settle(message, message.past);
        return Settlement.APPLIED;
    }

    @Override
    public synchronized List<Settlement> acknowledge(ShardKey key, List<Lease> leases) {
        Shard shard = shard(key);
        List<Settlement> settlements = new ArrayList<>();
        Set<String> ended = new HashSet<>();
        for (Lease lease : leases) {
            Settlement settlement = settle(shard, lease, (message, past) -> {
                shard.live.remove(message.id);
                shard.count("acknowledged", 1);
                ended.add(message.id);
            });
            // A batch is one step: what another entry of it has ended was there when it began.
            boolean repeated = settlement == Settlement.GONE && ended.contains(lease.id());
            settlements.add(repeated ? Settlement.STALE : settlement);
        }
        return settlements;
    }

    @Override
    public synchronized List<Settlement> fail(ShardKey key, List<Failure> failures) {
        Shard shard = shard(key);
        Long earliestDue = shard.first(State.WAITING);
        List<Settlement> settlements = new ArrayList<>();
        List<Long> arrivals = new ArrayList<>();
        for (Failure failure : failures) {
            settlements.add(settle(shard, failure.lease(), (message, past) -> {
                past.failures++;
                shard.count("failed", 1);
                Duration retryAfter = failure.retryAfter();
                if (retryAfter == null) {
                    message.move(State.DEAD, now());
                    shard.count("dead", 1);
                } else {
                    past.due = nowCeil() + ceilingMillis(retryAfter);
                    message.move(State.WAITING, past.due);
                    arrivals.add(past.due);
                }
                message.note(now(), failure.error());
            }));
        }
        notifyConsumers(key, earliestDue, arrivals);
        return settlements;
    }

    @Override
    public synchronized List<Settlement> release(ShardKey key, List<Lease> leases, Duration delay) {
        Shard shard = shard(key);
        Long earliestDue = shard.first(State.WAITING);
        List<Long> arrivals = new ArrayList<>();
        List<Settlement> settlements = leases.stream()
                .map(lease -> settle(shard, lease, (message, past) -> {
                    past.releases++;
                    past.due = delay.isZero() ? past.due : nowCeil() + ceilingMillis(delay);
                    message.move(State.WAITING, past.due);
                    arrivals.add(past.due);
                }))
                .toList();
        notifyConsumers(key, earliestDue, arrivals);
        return settlements;
    }

    @Override
    public synchronized List<Settlement> extend(ShardKey key, List<Lease> leases, Duration duration) {
        Shard shard = shard(key);
        Set<String> seen = new HashSet<>();
        return leases.stream()
                .map(lease -> {
                    Settlement settlement = settle(
                            shard,
                            lease,
                            (message, past) -> message.at = Math.max(message.at, now() + ceilingMillis(duration)));
                    boolean repeated = settlement == Settlement.APPLIED && !seen.add(lease.id());
                    return repeated ? Settlement.STALE : settlement;
                })
                .toList();
    }

    @Override
    public synchronized Reaped reap(ShardKey key, int count, int maxLeaseExpirations, Duration delay) {
        List<Message> expired = new ArrayList<>();
        for (Message message : shard(key).in(State.IN_FLIGHT)) {
            if (message.at <= now() && expired.size() < count) {
                expired.add(message);
            }
        }
        return lose(key, expired, maxLeaseExpirations, delay);
    }

    @Override
    public synchronized Reaped giveUp(ShardKey key, List<Lease> leases, int maxLeaseExpirations, Duration delay) {
        List<Message> held = new ArrayList<>();
        for (Lease lease : leases) {
            Message message = shard(key).live.get(lease.id());
            if (message != null
                    && message.place == State.IN_FLIGHT
                    && message.past().number == lease.number()
                    && !held.contains(message)) {
                held.add(message);
            }
        }
        return lose(key, held, maxLeaseExpirations, delay);
    }

    private Reaped lose(ShardKey key, List<Message> messages, int maxLeaseExpirations, Duration delay) {
        Shard shard = shard(key);
        Long earliestDue = shard.first(State.WAITING);
        List<LostLease> lost = new ArrayList<>();
        List<Long> arrivals = new ArrayList<>();
        for (Message message : messages) {
            Past past = message.past();
            past.lost++;
            boolean dies = past.lost >= maxLeaseExpirations;
            if (dies) {
                message.move(State.DEAD, now());
                message.note(now(), ErrorNote.LEASE_LOST);
                shard.count("dead", 1);
            } else {
                past.due = delay.isZero() ? past.due : nowCeil() + ceilingMillis(delay);
                message.move(State.WAITING, past.due);
                arrivals.add(past.due);
            }
            lost.add(new LostLease(new Lease(message.id, past.number), past.owner, past.lost, dies));
        }
        shard.count("lost", lost.size());
        notifyConsumers(key, earliestDue, arrivals);
        return new Reaped(Instant.ofEpochMilli(now()), instant(shard.first(State.IN_FLIGHT)), lost);
    }

    private static ChangeOutcome changeable(Shard shard, Target target) {
        Message message = shard.live.get(target.id());
        if (message == null) {
            return ChangeOutcome.GONE;
        }
        if (!isLife(message.frame, target.incarnation())) {
            return ChangeOutcome.OTHER_INCARNATION;
        }
        return switch (message.place) {
            case WAITING -> ChangeOutcome.APPLIED;
            case IN_FLIGHT -> ChangeOutcome.IN_FLIGHT;
            case DEAD -> ChangeOutcome.DEAD;
        };
    }

    private static boolean isLife(Bytes frame, @Nullable Bytes life) {
        if (life == null) {
            return true;
        }
        return frame.length() >= life.length()
                && Arrays.equals(frame.array(), 0, life.length(), life.array(), 0, life.length());
    }

    @Override
    public synchronized List<ChangeOutcome> cancel(ShardKey key, List<Target> targets) {
        Shard shard = shard(key);
        List<ChangeOutcome> outcomes = new ArrayList<>();
        for (Target target : targets) {
            ChangeOutcome outcome = changeable(shard, target);
            if (outcome == ChangeOutcome.APPLIED) {
                shard.live.remove(target.id());
                shard.count("cancelled", 1);
            }
            outcomes.add(outcome);
        }
        return outcomes;
    }

    @Override
    public synchronized List<ChangeOutcome> reschedule(ShardKey key, List<Reschedule> moves) {
        Shard shard = shard(key);
        Long earliestDue = shard.first(State.WAITING);
        List<ChangeOutcome> outcomes = new ArrayList<>();
        List<Long> arrivals = new ArrayList<>();
        for (Reschedule move : moves) {
            ChangeOutcome outcome = changeable(shard, move.target());
            Message message = shard.live.get(move.target().id());
            if (outcome == ChangeOutcome.APPLIED && message != null) {
                message.at = parseDue(move.due());
                arrivals.add(message.at);
            }
            outcomes.add(outcome);
        }
        notifyConsumers(key, earliestDue, arrivals);
        return outcomes;
    }

    private static StoredMessage view(Message message) {
        return new StoredMessage(
                message.id,
                message.place,
                Instant.ofEpochMilli(message.at),
                message.past == null ? null : message.past.history(),
                message.first,
                message.last,
                message.frame);
    }

    @Override
    public synchronized Optional<StoredMessage> find(ShardKey key, String id, int frameBytes) {
        return Optional.ofNullable(shard(key).live.get(id))
                .map(InMemoryQueueStore::view)
                .map(message -> message.cutAfter(frameBytes));
    }

    private static Position position(Message message) {
        return new Position(String.valueOf(message.at), message.id);
    }

    @Override
    public synchronized Browsed browse(ShardKey key, Browse page) {
        List<Message> all = new ArrayList<>(shard(key).in(page.place()));
        if (page.newestFirst()) {
            Collections.reverse(all);
        }
        Position after = page.after();
        List<Message> left = all.stream()
                .filter(m -> after == null
                        || (page.newestFirst()
                                ? position(m).compareTo(after) < 0
                                : position(m).compareTo(after) > 0))
                .toList();
        return new Browsed(
                all.size(),
                all.size() - left.size(),
                left.stream()
                        .limit(page.count())
                        .map(m -> new Browsed.Entry(
                                position(m),
                                Instant.ofEpochMilli(m.at),
                                m.past == null ? null : m.past.history(),
                                m.last,
                                m.frame.length(),
                                Bytes.of(Arrays.copyOf(m.frame.array(), Math.min(m.frame.length(), page.frameBytes()))),
                                null))
                        .toList());
    }

    @Override
    public synchronized DeadLetterErrors errors(ShardKey key, @Nullable Position after, int count) {
        List<Message> all = shard(key).in(State.DEAD);
        return new DeadLetterErrors(
                all.size(),
                all.stream()
                        .filter(m -> after == null || position(m).compareTo(after) > 0)
                        .limit(count)
                        .map(m -> new DeadLetterErrors.Entry(
                                position(m), Instant.ofEpochMilli(m.at), m.last == null ? null : m.last.text()))
                        .toList());
    }

    @Override
    public synchronized List<Boolean> redrive(ShardKey key, List<DeadLetterRef> deaths) {
        Shard shard = shard(key);
        Long earliestDue = shard.first(State.WAITING);
        List<Message> redriven = new ArrayList<>();
        List<Boolean> outcomes = new ArrayList<>();
        for (DeadLetterRef death : deaths) {
            Message message = dead(shard, death);
            if (message != null) {
                redrive(message);
                redriven.add(message);
            }
            outcomes.add(message != null);
        }
        finishRedrive(key, earliestDue, redriven);
        return outcomes;
    }

    private void redrive(Message message) {
        Past past = message.past();
        past.failures = 0;
        past.lost = 0;
        past.due = nowCeil();
        message.move(State.WAITING, past.due);
    }

    private void finishRedrive(ShardKey key, @Nullable Long earliestDue, List<Message> redriven) {
        shard(key).count("redriven", redriven.size());
        notifyConsumers(key, earliestDue, redriven.stream().map(m -> m.at).toList());
    }

    private static @Nullable Message dead(Shard shard, DeadLetterRef death) {
        Message message = shard.live.get(death.id());
        boolean meant = message != null
                && message.place == State.DEAD
                && message.at == death.diedAt().toEpochMilli();
        return meant ? message : null;
    }

    @Override
    public synchronized Replacement.Outcome replace(ShardKey key, DeadLetterRef death, Bytes incarnation, Bytes frame) {
        Shard shard = shard(key);
        Long earliestDue = shard.first(State.WAITING);
        Message message = dead(shard, death);
        if (message == null) {
            Message other = shard.live.get(death.id());
            return other != null && other.frame.equals(frame)
                    ? Replacement.Outcome.REPLACED
                    : Replacement.Outcome.NOT_DEAD;
        }
        if (!isLife(message.frame, incarnation)) {
            return Replacement.Outcome.OTHER_INCARNATION;
        }
        message.frame = frame;
        redrive(message);
        finishRedrive(key, earliestDue, List.of(message));
        return Replacement.Outcome.REPLACED;
    }

    @Override
    public synchronized List<Boolean> purge(ShardKey key, List<DeadLetterRef> deaths) {
        Shard shard = shard(key);
        List<Boolean> outcomes = new ArrayList<>();
        for (DeadLetterRef death : deaths) {
            Message message = dead(shard, death);
            if (message != null) {
                shard.live.remove(message.id);
                shard.count("purged", 1);
            }
            outcomes.add(message != null);
        }
        return outcomes;
    }

    @Override
    public synchronized int purge(ShardKey key, Duration age, int count) {
        Shard shard = shard(key);
        List<Message> old = shard.in(State.DEAD).stream()
                .filter(m -> m.at <= now() - ceilingMillis(age))
                .limit(count)
                .toList();
        old.forEach(message -> shard.live.remove(message.id));
        shard.count("purged", old.size());
        return old.size();
    }

    @Override
    public synchronized ShardStats stats(ShardKey key) {
        Shard shard = shard(key);
        List<Message> waiting = shard.in(State.WAITING);
        List<Message> due = waiting.stream().filter(m -> m.at <= now()).toList();
        return new ShardStats(
                Instant.ofEpochMilli(now()),
                shard.pause,
                waiting.size(),
                due.size(),
                shard.in(State.IN_FLIGHT).size(),
                shard.in(State.DEAD).size(),
                due.isEmpty() ? null : Instant.ofEpochMilli(due.get(0).at),
                Stream.of(AlertLimits.Kind.values())
                        .filter(kind -> shard.alert(kind.storedName(), now()) != null)
                        .collect(Collectors.toSet()),
                new ShardStats.Counters(
                        shard.counter("sent"),
                        shard.counter("acknowledged"),
                        shard.counter("failed"),
                        shard.counter("lost"),
                        shard.counter("dead"),
                        shard.counter("cancelled"),
                        shard.counter("redriven"),
                        shard.counter("purged")));
    }

    /** Each message is one object here: there is never anything to mend. */
    @Override
    public Repaired repair(ShardKey key, String position) {
        return new Repaired("", List.of(), 0, List.of());
    }

    @Override
    public synchronized boolean pause(ShardKey key, String by) {
        Shard shard = shard(key);
        boolean changed = shard.pause == null;
        if (changed) {
            shard.pause = new Pause(Instant.ofEpochMilli(now()), by);
        }
        return changed;
    }

    @Override
    public synchronized boolean resume(ShardKey key) {
        Shard shard = shard(key);
        boolean changed = shard.pause != null;
        shard.pause = null;
        Long earliestDue = shard.first(State.WAITING);
        if (changed && earliestDue != null) {
            notifyConsumers(key, null, List.of(earliestDue));
        }
        return changed;
    }

    @Override
    public synchronized boolean raise(ShardKey key, String name, AlertReport report) {
        Shard shard = shard(key);
        Alert before = shard.alert(name, now());
        if (before != null && (before.isRaised() || (before.isBy(report) && report.isDone()))) {
            shard.alerts.put(name, new Alert("raised", "", 0, now() + ALERT_EXPIRY.toMillis()));
            return false;
        }
        return claim(shard, name, "raise", report);
    }

    @Override
    public synchronized boolean resolve(ShardKey key, String name, AlertReport report) {
        Shard shard = shard(key);
        Alert before = shard.alert(name, now());
        if (before == null) {
            return false;
        }
        if (before.isBy(report) && report.isDone()) {
            shard.alerts.remove(name);
            return false;
        }
        return claim(shard, name, "resolve", report);
    }

    private boolean claim(Shard shard, String name, String change, AlertReport report) {
        Alert before = shard.alert(name, now());
        boolean isOfAnother = before != null
                && before.change.equals(change)
                && !before.token.equals(report.token())
                && before.claimedUntil > now();
        if (report.isDone() || isOfAnother) {
            return false;
        }
        shard.alerts.put(
                name,
                new Alert(change, report.token(), now() + ALERT_CLAIM.toMillis(), now() + ALERT_EXPIRY.toMillis()));
        return true;
    }

    @Override
    public JobStore jobs() {
        return jobs;
    }

    @Override
    public Subscription subscribe(Collection<ShardKey> keys, WakeupListener listener) {
        Subscriber subscriber = new Subscriber(Set.copyOf(keys), listener);
        subscribers.add(subscriber);
        return () -> subscribers.remove(subscriber);
    }

    /**
     * The shard as the store in Redis would keep it, to compare the two: by key without prefix, of texts or of maps of texts.
     */
    public synchronized Map<String, Object> keyspace(ShardKey key) {
        Shard shard = shard(key);
        Map<String, Object> keys = new TreeMap<>();
        for (Message message : shard.live.values()) {
            String place = message.place == State.IN_FLIGHT
                    ? "inflight"
                    : message.place.name().toLowerCase(Locale.ROOT);
            field(keys, place, message.id, String.valueOf(message.at));
            keys.put("m:" + message.id, new String(message.frame.array(), UTF_8));
            Past past = message.past;
            if (past != null) {
                field(
                        keys,
                        "state",
                        message.id,
                        past.number + ":" + past.failures + ":" + past.lost + ":" + past.releases + ":" + past.due + ":"
                                + past.owner);
            }
            if (message.first != null && message.last != null) {
                field(keys, "errors", "F" + message.id, text(message.first));
                field(keys, "errors", "L" + message.id, text(message.last));
            }
        }
        shard.counters.forEach((counter, n) -> field(keys, "counters", counter, n.toString()));
        shard.answers.forEach((owner, answer) -> keys.put("claim:" + owner, text(answer)));
        if (shard.lastNumber > 0) {
            field(keys, "settings", "number", String.valueOf(shard.lastNumber));
        }
        Pause pause = shard.pause;
        if (pause != null) {
            field(keys, "settings", "paused", Objects.requireNonNull(pause.at()).toEpochMilli() + ":" + pause.by());
        }
        return keys;
    }

    @SuppressWarnings("unchecked")
    private static void field(Map<String, Object> keys, String key, String field, String value) {
        ((Map<String, String>) keys.computeIfAbsent(key, k -> new TreeMap<String, String>())).put(field, value);
    }

    private static String text(ErrorNote note) {
        return note.at().toEpochMilli() + ":" + note.owner() + ":" + note.text();
    }

    private static String text(Answer answer) {
        StringBuilder text = new StringBuilder()
                .append(answer.request)
                .append(' ')
                .append(answer.leases.get(0).number());
        answer.leases.forEach(lease -> text.append(' ').append(lease.id()));
        return text.toString();
    }
}
