package io.easykit.test;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A connection between a client and a server that a test can disturb: cut, frozen, slow, narrow, or losing requests or
 * replies.
 *
 * <p>A Redis client matches replies to requests by their order. So a connection that has lost bytes is closed, not
 * healed: otherwise its client would take a later reply for the lost one, which cannot happen on a real network.
 */
public final class TcpProxy implements AutoCloseable {
    private static final int CONNECT_TIMEOUT_MILLIS = 10_000;
    private static final int BACKLOG = 50;
    private static final int BUFFER = 64 * 1024;
    private static final int LEAST_PART = 1024;
    private static final int PORT_ATTEMPTS = 20;

    private final int port;
    private final Set<Link> links = ConcurrentHashMap.newKeySet();

    /** Guards the faults below and their effects on the links. */
    private final ReentrantLock lock = new ReentrantLock();

    private final Condition changed = lock.newCondition();
    private RedisServer target;
    private @Nullable Listener listener;
    private boolean closed;
    private boolean frozen;
    private boolean holdReplies;
    private boolean dropRequests;
    private boolean dropReplies;
    private boolean dropNextReply;
    private Duration delay = Duration.ZERO;
    private long bytesPerSecond;
    private final Lane requests = new Lane();
    private final Lane replies = new Lane();

    private TcpProxy(RedisServer target) {
        this.target = target;
        this.port = listenOnFreePort();
    }

    /** Opens an undisturbed connection to the server. */
    public static TcpProxy to(RedisServer server) {
        return new TcpProxy(server);
    }

    public String host() {
        return "127.0.0.1";
    }

    /** Returns the port to use in place of the server's. It stays the same for the life of the proxy. */
    public int port() {
        return port;
    }

    /** Returns the number of connections through this proxy. */
    public int connections() {
        return links.size();
    }

    /** Closes all connections and refuses new ones. */
    public void cut() {
        @Nullable Listener former;
        lock.lock();
        try {
            former = listener;
            listener = null;
        } finally {
            lock.unlock();
        }
        if (former != null) {
            former.close();
        }
        links.forEach(Link::close);
    }

    /** Closes all connections and routes new ones to another server, like an address that moves with the master. */
    public void retarget(RedisServer server) {
        change(() -> target = server);
        links.forEach(Link::close);
    }

    /** Routes new connections to another server, like a moved virtual IP. Present connections stay. */
    public void redirect(RedisServer server) {
        change(() -> target = server);
    }

    /** Permanently blocks the present connections, like a peer that vanishes without a reset. New ones work. */
    public void strand() {
        change(() -> links.forEach(link -> link.stranded = true));
    }

    /** Blocks all bytes. Nothing is lost, and connections stay open. */
    public void freeze() {
        change(() -> frozen = true);
    }

    /** While on, the server runs every request, and its replies wait. Nothing is lost. */
    public void holdReplies(boolean on) {
        change(() -> holdReplies = on);
    }

    /**
     * While on, the server gets no requests.
     *
     * @param on false closes the connections that have lost bytes
     */
    public void dropRequests(boolean on) {
        change(() -> dropRequests = on);
        closeDamaged();
    }

    /**
     * While on, the server runs every request, and its replies are lost.
     *
     * @param on false closes the connections that have lost bytes
     */
    public void dropReplies(boolean on) {
        change(() -> dropReplies = on);
        closeDamaged();
    }

    /**
     * Lets the server run the next request of any client, and closes that connection in place of the reply.
     *
     * <p>Replies to earlier requests in transit on the same connection are lost too.
     */
    public void dropNextReply() {
        change(() -> dropNextReply = true);
    }

    /** Delays every request by at least this time; zero for no delay. */
    public void delay(Duration delay) {
        change(() -> this.delay = delay);
    }

    /**
     * Limits the bandwidth in each direction, all connections together.
     *
     * @param bytesPerSecond bytes per second; 0 for no limit
     */
    public void bandwidth(long bytesPerSecond) {
        change(() -> this.bytesPerSecond = bytesPerSecond);
    }

    /** Returns the number of reply bytes so far. */
    public long replyBytes() {
        lock.lock();
        try {
            return replies.passed;
        } finally {
            lock.unlock();
        }
    }

    /** Ends every fault: listens again, and closes the connections that have lost bytes. */
    public void heal() {
        change(() -> {
            frozen = false;
            holdReplies = false;
            dropRequests = false;
            dropReplies = false;
            dropNextReply = false;
            delay = Duration.ZERO;
            bytesPerSecond = 0;
        });
        closeDamaged();
        listenAgain();
    }

    /** Closes the proxy. */
    @Override
    public void close() {
        change(() -> closed = true);
        cut();
    }

    private int listenOnFreePort() {
        for (int attempt = 1; ; attempt++) {
            int candidate = Ports.reserve();
            try {
                listen(candidate);
                return candidate;
            } catch (BindException e) {
                if (attempt == PORT_ATTEMPTS) {
                    throw new UncheckedIOException("No port for the proxy", e);
                }
            } catch (IOException e) {
                throw new UncheckedIOException("No port for the proxy", e);
            }
        }
    }

    private void listenAgain() {
        lock.lock();
        try {
            if (closed) {
                throw new IllegalStateException("The proxy is closed. Open another one.");
            }
            if (listener == null) {
                listen(port);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot listen on port " + port + " again", e);
        } finally {
            lock.unlock();
        }
    }

    private void listen(int onPort) throws IOException {
        ServerSocket socket = new ServerSocket();
        try {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), onPort), BACKLOG);
        } catch (IOException e) {
            socket.close();
            throw e;
        }
        listener = new Listener(socket, daemon("proxy-accept-" + onPort, () -> acceptAll(socket)));
    }

    private void acceptAll(ServerSocket socket) {
        while (!socket.isClosed()) {
            try {
                connect(socket.accept(), socket);
            } catch (IOException e) {
                // The proxy was cut, or this client went away. Later clients can still connect.
            }
        }
    }

    private void connect(Socket client, ServerSocket from) {
        Socket server = new Socket();
        try {
            server.connect(targetAddress(), CONNECT_TIMEOUT_MILLIS);
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
        } catch (IOException e) {
            closeQuietly(server);
            closeQuietly(client);
            return;
        }
        Link link = new Link(client, server);
        links.add(link);
        if (from.isClosed()) {
            link.close();
            return;
        }
        daemon("proxy-requests-" + port, link::pumpRequests);
        daemon("proxy-replies-" + port, link::pumpReplies);
    }

    private InetSocketAddress targetAddress() {
        lock.lock();
        try {
            return new InetSocketAddress(target.host(), target.port());
        } finally {
            lock.unlock();
        }
    }

    private void change(Runnable change) {
        lock.lock();
        try {
            change.run();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void closeDamaged() {
        for (Link link : links) {
            if (link.isDamagedAndHealing()) {
                link.close();
            }
        }
    }

    private static Thread daemon(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static void closeQuietly(Closeable socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // Nothing to clean up.
        }
    }

    private record Listener(ServerSocket socket, Thread acceptor) {
        /**
         * The operating system keeps a closed socket open while a thread waits in it, so that thread must end first.
         */
        void close() {
            closeQuietly(socket);
            try {
                acceptor.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** The connection of a client, and the corresponding one to the server. */
    private final class Link {
        private final Socket client;
        private final Socket server;
        private boolean damaged;
        private boolean closeOnReply;
        private boolean linkClosed;
        private boolean stranded;

        Link(Socket client, Socket server) {
            this.client = client;
            this.server = server;
        }

        void pumpRequests() {
            pump(client, server, requests, this::requestMayPass);
        }

        void pumpReplies() {
            pump(server, client, replies, this::replyMayPass);
        }

        boolean isDamagedAndHealing() {
            lock.lock();
            try {
                return damaged && !dropRequests && !dropReplies;
            } finally {
                lock.unlock();
            }
        }

        void close() {
            change(() -> linkClosed = true);
            closeQuietly(client);
            closeQuietly(server);
            links.remove(this);
        }

        private void pump(Socket from, Socket to, Lane lane, Gate gate) {
            byte[] bytes = new byte[BUFFER];
            try {
                for (int length = read(from, bytes); length >= 0; length = read(from, bytes)) {
                    if (gate.mayPass()) {
                        pass(bytes, length, to, lane);
                    }
                }
            } catch (IOException e) {
                // One side has closed its connection, so the other one is closed too.
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } finally {
                close();
            }
        }

        /** Passes small parts, because a narrow line delivers bytes gradually. */
        private void pass(byte[] bytes, int length, Socket to, Lane lane) throws IOException, InterruptedException {
            int part;
            for (int passed = 0; passed < length; passed += part) {
                part = Math.min(length - passed, bytesAtATime());
                awaitBandwidth(lane, part);
                to.getOutputStream().write(bytes, passed, part);
            }
        }

        private int bytesAtATime() {
            lock.lock();
            try {
                return bytesPerSecond == 0
                        ? BUFFER
                        : (int) Math.min(BUFFER, Math.max(LEAST_PART, bytesPerSecond / 100));
            } finally {
                lock.unlock();
            }
        }

        private static int read(Socket from, byte[] bytes) throws IOException {
            return from.getInputStream().read(bytes);
        }

        private boolean requestMayPass() throws InterruptedException {
            long arrival = System.nanoTime();
            lock.lock();
            try {
                awaitThaw();
                awaitDelay(arrival);
                if (dropRequests || linkClosed) {
                    damaged = true;
                    return false;
                }
                closeOnReply |= dropNextReply;
                dropNextReply = false;
                return true;
            } finally {
                lock.unlock();
            }
        }

        private boolean replyMayPass() throws InterruptedException {
            lock.lock();
            try {
                while ((frozen || stranded || holdReplies) && !linkClosed) {
                    changed.await();
                }
                if (closeOnReply) {
                    close();
                }
                if (dropReplies || linkClosed) {
                    damaged = true;
                    return false;
                }
                return true;
            } finally {
                lock.unlock();
            }
        }

        private void awaitThaw() throws InterruptedException {
            while ((frozen || stranded) && !linkClosed) {
                changed.await();
            }
        }

        /** Bytes of all connections pass one after the other. */
        private void awaitBandwidth(Lane lane, int bytes) throws InterruptedException {
            lock.lock();
            try {
                lane.passed += bytes;
                if (bytesPerSecond == 0) {
                    return;
                }
                long now = System.nanoTime();
                long begin = lane.freeAt - now > 0 ? lane.freeAt : now;
                long end = begin + bytes * 1_000_000_000L / bytesPerSecond;
                lane.freeAt = end;
                for (long rest = end - now;
                        rest > 0 && bytesPerSecond > 0 && !linkClosed;
                        rest = end - System.nanoTime()) {
                    changed.awaitNanos(rest);
                }
            } finally {
                lock.unlock();
            }
        }

        /** A change of the delay wakes waiting threads, which then use the new value. */
        private void awaitDelay(long arrival) throws InterruptedException {
            long rest = delay.toNanos();
            while (rest > 0 && !linkClosed) {
                changed.awaitNanos(rest);
                rest = delay.toNanos() - (System.nanoTime() - arrival);
            }
        }
    }

    /** One direction. */
    private static final class Lane {
        private long freeAt = System.nanoTime();
        private long passed;
    }

    /** Waits until bytes may pass; false drops them. */
    private interface Gate {
        boolean mayPass() throws InterruptedException;
    }
}
