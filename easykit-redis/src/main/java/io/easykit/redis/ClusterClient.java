package io.easykit.redis;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisChannelWriter;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisURI;
import io.lettuce.core.StatefulRedisConnectionImpl;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.models.partitions.Partitions;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.cluster.topology.TopologyComparators;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.json.JsonParser;
import io.lettuce.core.protocol.DefaultEndpoint;
import io.lettuce.core.protocol.PushHandler;
import io.lettuce.core.resource.ClientResources;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.BeansException;
import org.springframework.beans.DirectFieldAccessor;

/**
 * A client of a cluster that reads the topology over the connections it has, and that can leave one server.
 *
 * <p>Lettuce makes a connection to each server whenever it reads the topology, with a TLS handshake and a login. It does so once a
 * second while a master is away, for each product and process. On a busy machine the calls to healthy masters wait for these
 * handshakes. This client sends {@code CLUSTER NODES} over connections that carry commands anyway, and uses the latest reply. It reads
 * the topology in Lettuce's way if there is no connection, and each time after {@link #MOST_UNCHANGED} readings that found nothing new:
 * the servers it is connected to may be cut off from the others.
 *
 * <p>If several servers send no reply, the machine is too busy, and more connections would not help it: the topology stays as it is,
 * and the reading counts {@link #UNANSWERED} times. If only one server was connected, all are read, and connections to other masters
 * are made for the next time.
 */
final class ClusterClient extends RedisClusterClient {

    private static final Logger log = LoggerFactory.getLogger(ClusterClient.class);

    /** Consecutive readings over present connections that found nothing new, before all servers are read. */
    static final int MOST_UNCHANGED = 10;

    static final int UNANSWERED = 3;

    /** Spring Data creates the addresses with credentials and TLS, and no getter of Lettuce is public. */
    static final String ADDRESSES = "initialUris";

    /** Time between two warnings of another cluster. */
    private static final Duration WARNING_PAUSE = Duration.ofMinutes(1);

    /** Maximum number of servers to read the topology from. In a large cluster they are chosen at random. */
    private static final int SOURCES = 5;

    private final Map<RedisChannelHandler<?, ?>, Line> lines = new ConcurrentHashMap<>();
    private final AtomicInteger unchanged = new AtomicInteger();
    private volatile @Nullable Long warned;

    private ClusterClient(ClientResources resources, Iterable<RedisURI> seeds, ClusterClientOptions options) {
        super(resources, seeds);
        setOptions(options);
        addListener(new RedisConnectionStateListener() {
            @Override
            public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress address) {
                Line line = lines.get(connection);
                if (line != null) {
                    line.server = address;
                }
            }
        });
    }

    /**
     * Returns a client for the same cluster. The given one must not have been used, and need not be closed. It is returned itself if
     * it has no such field.
     *
     * @param addresses field of its addresses, {@link #ADDRESSES}
     */
    @SuppressWarnings("unchecked") // the type of the field
    static RedisClusterClient like(RedisClusterClient unused, String addresses) {
        Object seeds;
        try {
            seeds = new DirectFieldAccessor(unused).getPropertyValue(addresses);
        } catch (BeansException e) {
            log.info("The topology of the cluster is read over connections that are made for it: {}", e.getMessage());
            return unused;
        }
        return seeds instanceof Iterable<?> uris
                ? new ClusterClient(
                        unused.getResources(), (Iterable<RedisURI>) uris, (ClusterClientOptions) unused.getOptions())
                : unused;
    }

    @Override
    protected <K, V> StatefulRedisConnectionImpl<K, V> newStatefulRedisConnection(
            RedisChannelWriter writer,
            PushHandler endpoint,
            RedisCodec<K, V> codec,
            Duration timeout,
            Supplier<JsonParser> parser) {
        StatefulRedisConnectionImpl<K, V> made =
                super.newStatefulRedisConnection(writer, endpoint, codec, timeout, parser);
        // Connections that only read the topology use text.
        if (codec instanceof ByteArrayCodec && endpoint instanceof DefaultEndpoint end) {
            lines.keySet().removeIf(RedisChannelHandler::isClosed);
            lines.put(made, new Line(made, end));
        }
        return made;
    }

    @Override
    protected CompletableFuture<Partitions> loadPartitionsAsync() {
        List<Line> open = new ArrayList<>(openLines().toList());
        if (open.isEmpty() || unchanged.get() >= MOST_UNCHANGED) {
            unchanged.set(0);
            return super.loadPartitionsAsync();
        }
        Collections.shuffle(open);
        List<Line> asked = open.subList(0, Math.min(SOURCES, open.size()));
        List<CompletableFuture<String>> replies = asked.stream().map(Line::view).toList();
        return CompletableFuture.allOf(replies.toArray(CompletableFuture<?>[]::new))
                .handleAsync(
                        (done, failure) -> latest(views(replies)),
                        getResources().eventExecutorGroup())
                .thenCompose(latest -> latest == null ? unanswered(asked) : CompletableFuture.completedFuture(latest));
    }

    private static List<String> views(List<CompletableFuture<String>> replies) {
        return replies.stream()
                .filter(reply -> !reply.isCompletedExceptionally())
                .map(CompletableFuture::join)
                .toList();
    }

    @Nullable Partitions latest(List<String> views) {
        Partitions present = getPartitions();
        Partitions latest = ClusterViews.latest(views, present, ((ClusterClientOptions) getOptions()).getNodeFilter());
        if (latest == null && views.stream().anyMatch(view -> ClusterViews.isForeign(view, present))) {
            warnOfAnother(present);
        }
        if (latest != null && TopologyComparators.isChanged(present, latest)) {
            unchanged.set(0);
        } else {
            unchanged.incrementAndGet();
        }
        return latest;
    }

    private void warnOfAnother(Partitions present) {
        long now = System.nanoTime();
        Long last = warned;
        if (last != null && now - last < WARNING_PAUSE.toNanos()) {
            return;
        }
        warned = now;
        log.warn(
                "The servers that this application is connected to have the topology of another Redis Cluster, without most of"
                        + " the known servers: {}. It is not used. A server of the other cluster may have got the address of a former"
                        + " server: use other addresses or a password for it. If the cluster was replaced on purpose, restart the"
                        + " application.",
                present.stream()
                        .map(node ->
                                node.getUri().getHost() + ":" + node.getUri().getPort())
                        .collect(Collectors.joining(", ")));
    }

    private CompletableFuture<Partitions> unanswered(List<Line> asked) {
        Partitions present = getPartitions();
        if (asked.stream().map(line -> line.server).distinct().count() > 1) {
            unchanged.addAndGet(UNANSWERED - 1);
            return CompletableFuture.completedFuture(present.clone());
        }
        List<RedisURI> masters = present.stream()
                .filter(node -> !node.hasNoSlots())
                .map(RedisClusterNode::getUri)
                .limit(SOURCES)
                .toList();
        forEachClusterConnection(connection -> masters.forEach(master -> {
            var unused = connection.getConnectionAsync(master.getHost(), master.getPort());
        }));
        return super.loadPartitionsAsync();
    }

    /**
     * Closes the connections to one server. Lettuce connects to it again. Commands in flight to it fail; other servers are not
     * affected.
     *
     * @return a future that is true if there was such a connection
     */
    CompletableFuture<Boolean> reconnect(RedisURI node) {
        // Resolving a name may block.
        return CompletableFuture.supplyAsync(
                () -> {
                    SocketAddress resolved =
                            getResources().socketAddressResolver().resolve(node);
                    List<Line> theirs = openLines()
                            .filter(line -> line.leadsTo(node) || line.leadsTo(resolved))
                            .toList();
                    theirs.forEach(line -> line.endpoint.disconnect());
                    return !theirs.isEmpty();
                },
                getResources().eventExecutorGroup());
    }

    private Stream<Line> openLines() {
        return lines.values().stream().filter(line -> line.connection.isOpen());
    }

    /** A connection to one server. */
    private static final class Line {

        private final StatefulRedisConnectionImpl<?, ?> connection;
        private final DefaultEndpoint endpoint;
        private volatile @Nullable SocketAddress server;

        Line(StatefulRedisConnectionImpl<?, ?> connection, DefaultEndpoint endpoint) {
            this.connection = connection;
            this.endpoint = endpoint;
        }

        CompletableFuture<String> view() {
            try {
                return connection.async().clusterNodes().toCompletableFuture();
            } catch (RuntimeException justClosed) {
                return CompletableFuture.failedFuture(justClosed);
            }
        }

        boolean leadsTo(RedisURI node) {
            return server instanceof InetSocketAddress mine
                    && mine.getPort() == node.getPort()
                    && mine.getHostString().equals(node.getHost());
        }

        boolean leadsTo(SocketAddress address) {
            if (!(server instanceof InetSocketAddress mine) || !(address instanceof InetSocketAddress other)) {
                return Objects.equals(server, address);
            }
            boolean sameHost = other.getAddress() == null
                    ? mine.getHostString().equals(other.getHostString())
                    : other.getAddress().equals(mine.getAddress());
            return mine.getPort() == other.getPort() && sameHost;
        }
    }
}
