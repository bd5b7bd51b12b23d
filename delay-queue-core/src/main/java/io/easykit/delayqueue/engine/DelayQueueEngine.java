package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.DelayListenerInterceptor;
import io.easykit.delayqueue.DelayQueueListener;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.FlowLimits;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageHandler;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.PayloadCodec;
import io.easykit.delayqueue.SendInterceptor;
import io.easykit.delayqueue.SendPhase;
import io.easykit.delayqueue.TopicConflictException;
import io.easykit.delayqueue.admin.ActionLog;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.FleetAdmin;
import io.easykit.delayqueue.admin.OutboxAdmin;
import io.easykit.delayqueue.admin.TopicStats;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.SendOutbox;
import io.easykit.delayqueue.support.DurationText;
import io.easykit.delayqueue.support.Transactions;
import io.easykit.delayqueue.time.LoopExecutor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** The delay queue of an application: a store, and the parts that senders, listeners and administration share. */
public final class DelayQueueEngine implements AutoCloseable {

    private final QueueBackend store;
    private final Topics topics;
    private final DelayQueueTemplate template;
    private final DelayQueueAdmin admin;
    private final FleetAdmin fleet;
    private final SendParts sends;
    private final Interceptors interceptors;
    private final EngineContext context;
    private final Membership membership;

    private DelayQueueEngine(Builder settings) {
        this.store = settings.store;
        this.topics = new Topics(store, settings.shards, settings.loops::nanos);
        this.interceptors = new Interceptors(settings.sendInterceptors, settings.listenerInterceptors);
        RepeatedLines lines = new RepeatedLines(settings.loops::nanos);
        Events events = new Events(settings.listeners, lines);
        this.sends = SendParts.of(settings.sends, settings.codec(), store, topics, settings.loops, events, lines);
        this.template = new DefaultDelayQueueTemplate(
                store, topics, sends.sender(), sends.outbox(), interceptors, settings.loops::nanos);
        String process = settings.node == null ? Heartbeat.Node.processName() : settings.node;
        var node = Heartbeat.Node.of(process, settings.application, settings.versions, settings.heartbeatInterval);
        this.fleet = new DefaultFleetAdmin(store, topics, node.id(), settings.loops::nanos);
        JobRunner jobs = new JobRunner(store, topics, settings.loops, node.id());
        this.admin = new DefaultDelayQueueAdmin(
                store, topics, new MessageReplacer(store, settings.sends.maxMessageBytes), jobs, settings.loops::nanos);
        StandstillLog standstills = new StandstillLog(settings.loops::nanos);
        this.context = new EngineContext(
                store,
                new BodyReader(store, standstills),
                topics,
                new TopicSettingsGuard(settings.limits),
                new RunningListeners(),
                settings.codec(),
                events,
                new EventQueue(events, settings.loops),
                standstills,
                lines,
                settings.loops,
                settings.workers,
                jobs,
                settings.sends.replicaWaits,
                settings.sends.commandTimeout,
                process,
                new LeaseClocks());
        this.membership = new Membership(node, context, settings.noConsumerLimits);
    }

    public static Builder builder(QueueBackend store) {
        return new Builder(store);
    }

    public DelayQueueTemplate template() {
        return template;
    }

    public DelayQueueAdmin admin() {
        return admin;
    }

    public FleetAdmin fleet() {
        return fleet;
    }

    /** Stores what is in the outbox, once it is started; null without an outbox. */
    public @Nullable OutboxAdmin outbox() {
        return sends.relay();
    }

    public ActionLog actions() {
        return store.actions();
    }

    /**
     * Begins to report this node and its listeners to the others, and to apply the pause requests of operators. Starts
     * nothing else. Without it the node works the same, and no other one sees it.
     */
    public void join() {
        membership.join();
    }

    /** Ends what {@link #join()} began: the other nodes no longer see this one. Waits at most a second for the store. */
    public void leave() {
        membership.leave();
    }

    /** Leaves without waiting, for tests. */
    void beginLeaving() {
        membership.beginLeaving();
    }

    public TopicStats stats(String topic) {
        return admin.stats(topic);
    }

    /** A container that is not started yet. Its listener takes the limits of its topic; other ones are a {@link TopicConflictException}. */
    public <T> ListenerContainer container(ListenerEndpoint endpoint, MessageHandler<T> handler) {
        if (endpoint.batchSize() > 1) {
            throw new IllegalArgumentException("Listener '" + endpoint.id() + "' has a batch size of "
                    + endpoint.batchSize() + ", and its handler takes one message: give it a batch handler.");
        }
        return this.<T>batchContainer(endpoint, messages -> handler.handle(messages.get(0)));
    }

    /** A container whose handler takes several messages a call, up to the endpoint's batch size. */
    @SuppressWarnings("unchecked") // the codec returns the type of the endpoint
    public <T> ListenerContainer batchContainer(ListenerEndpoint listener, MessageHandler.Batch<T> handler) {
        ListenerEndpoint endpoint = context.settingsGuard().completed(listener);
        var once = OnceHandler.of(
                endpoint, (MessageHandler.Batch<Object>) (Object) handler, context.events(), context.lines());
        return new ListenerContainer(context, endpoint, messages -> interceptors.handle(endpoint, messages, once));
    }

    /** Ends the background work of the engine. Stop the containers first. The store stays open. */
    @Override
    public void close() {
        membership.leave();
        context.jobs().close();
        context.loopEvents().close();
        sends.close();
    }

    /** Builds an engine. */
    public static final class Builder {

        final QueueBackend store;
        final List<Supplier<? extends Collection<? extends DelayQueueListener>>> listeners = new ArrayList<>();
        final SendSettings sends = new SendSettings();
        ToIntFunction<String> shards = topic -> Topics.UNSET;
        Function<String, FlowLimits> limits = topic -> FlowLimits.NONE;
        Supplier<? extends Collection<? extends SendInterceptor>> sendInterceptors = List::of;
        Supplier<? extends Collection<? extends DelayListenerInterceptor>> listenerInterceptors = List::of;
        Function<String, @Nullable Duration> noConsumerLimits = topic -> null;
        String application = "";
        Duration heartbeatInterval = Duration.ofSeconds(10);
        final Map<String, String> versions = new TreeMap<>();
        Workers.Factory workers = WorkerPool.FOR_EACH;
        LoopExecutor loops = LoopExecutor.THREADS;

        @Nullable String node;

        private @Nullable PayloadCodec codec;

        private Builder(QueueBackend store) {
            this.store = store;
        }

        /** How payloads become bytes; must be given. */
        public Builder codec(PayloadCodec codec) {
            this.codec = codec;
            return this;
        }

        /** Number of shards by topic. 0, the default, is the number of the store, or 1 for a new topic. A greater number adds shards. */
        public Builder shards(ToIntFunction<String> shards) {
            this.shards = shards;
            return this;
        }

        /** Limits by topic, for all its listeners; none unless given. */
        public Builder topicLimits(Function<String, FlowLimits> limits) {
            this.limits = limits;
            return this;
        }

        /** Adds a listener for events. */
        public Builder listener(DelayQueueListener listener) {
            listeners.add(() -> List.of(listener));
            return this;
        }

        /** Adds listeners that are supplied at the first event, because they may depend on this engine themselves. */
        public Builder listeners(Supplier<? extends Collection<? extends DelayQueueListener>> later) {
            listeners.add(later);
            return this;
        }

        /** What wraps sends, supplied at the first one, the outermost first; nothing unless given. */
        public Builder sendInterceptors(Supplier<? extends Collection<? extends SendInterceptor>> later) {
            this.sendInterceptors = later;
            return this;
        }

        /** What wraps calls of handlers, supplied at the first one, the outermost first; nothing unless given. */
        public Builder listenerInterceptors(Supplier<? extends Collection<? extends DelayListenerInterceptor>> later) {
            this.listenerInterceptors = later;
            return this;
        }

        /** The transactions that sends take part in; none unless given. */
        public Builder transactions(Transactions transactions) {
            sends.transactions = transactions;
            return this;
        }

        /** Default phase of sends inside a transaction. Default: before the commit. */
        public Builder sendPhase(SendPhase sendPhase) {
            sends.phase = sendPhase;
            return this;
        }

        /** Outbox of sends with the phase OUTBOX, and how long after the death of a process another one stores its rows. */
        public Builder outbox(SendOutbox outbox, Duration lease) {
            sends.outbox = outbox;
            sends.outboxLease = lease;
            return this;
        }

        /** Default maximum time for a send to wait for a store that is away. Default: zero. At most one hour. */
        public Builder sendTimeout(Duration sendTimeout) {
            if (!OutgoingMessage.isPossible(sendTimeout)) {
                throw new IllegalArgumentException("A send timeout of " + DurationText.of(sendTimeout)
                        + " is not possible: give zero to an hour.");
            }
            sends.timeout = sendTimeout;
            return this;
        }

        /** Maximum time of the driver to wait for a reply. A shorter value here can run a message twice. Default: 250 ms. */
        public Builder commandTimeout(Duration commandTimeout) {
            sends.commandTimeout = commandTimeout;
            return this;
        }

        /** How many replicas have to confirm a message, by topic, unless the message says otherwise; none unless given. */
        public Builder replicaWaits(Function<String, @Nullable ReplicaWait> replicaWaits) {
            sends.replicaWaits = replicaWaits;
            return this;
        }

        /** The largest message in bytes, payload and headers; 8 MB unless given. Larger ones need a longer command timeout. */
        public Builder maxMessageBytes(int maxMessageBytes) {
            if (maxMessageBytes < 1) {
                throw new IllegalArgumentException(
                        "A largest message of " + maxMessageBytes + " bytes is not possible: give at least 1.");
            }
            sends.maxMessageBytes = maxMessageBytes;
            return this;
        }

        /**
         * Runs the handlers, such as on one virtual thread a call; own pools unless given. A container bounds the calls, and prefetches
         * nothing. While it blocks, messages wait here. Tasks refused, or run by the caller, are handed back; dropped ones stay in flight.
         */
        public Builder workers(@Nullable Executor workers) {
            this.workers = workers == null ? WorkerPool.FOR_EACH : ExecutorWorkers.on(workers);
            return this;
        }

        /** Makes what runs the handlers of a container, for tests. */
        Builder pools(Function<ListenerEndpoint, Workers> pools) {
            this.workers = (endpoint, loops) -> pools.apply(endpoint);
            return this;
        }

        /** Name of the application, as other nodes see it; empty unless given. */
        public Builder application(String application) {
            this.application = application;
            return this;
        }

        /** By topic, how long messages may be due without a consumer before an alert is raised; null, the default, for no limit. */
        public Builder noConsumerLimits(Function<String, @Nullable Duration> limits) {
            this.noConsumerLimits = limits;
            return this;
        }

        /** Adds a version that other nodes see, such as that of {@code spring-boot}. */
        public Builder version(String of, String version) {
            versions.put(of, version);
            return this;
        }

        /**
         * Interval of heartbeats, see {@link DelayQueueEngine#join()}. Default: 10 s. A node that is silent for three is forgotten.
         *
         * @throws IllegalArgumentException unless it is 1 s to 1 m: samples are taken each minute, pause requests kept for an hour
         */
        public Builder heartbeatInterval(Duration interval) {
            if (interval.compareTo(Duration.ofSeconds(1)) < 0 || interval.compareTo(Duration.ofMinutes(1)) > 0) {
                throw new IllegalArgumentException("A heartbeat interval of " + DurationText.of(interval)
                        + " is not possible: give 1 second to a minute.");
            }
            this.heartbeatInterval = interval;
            return this;
        }

        /** Names this process in leases and errors; host and process id unless given. */
        public Builder node(String node) {
            this.node = node;
            return this;
        }

        /** Time, and what runs the loops of the engine; threads unless given. Tests give virtual time. */
        public Builder loops(LoopExecutor loops) {
            this.loops = loops;
            return this;
        }

        PayloadCodec codec() {
            if (codec == null) {
                throw new IllegalStateException(
                        "The delay queue has no codec: give the builder one, such as JacksonPayloadCodec.");
            }
            return codec;
        }

        public DelayQueueEngine build() {
            return new DelayQueueEngine(this);
        }
    }
}
