package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.admin.OutboxAdmin;
import io.easykit.delayqueue.store.SendOutbox;
import io.easykit.delayqueue.store.SendOutbox.Backlog;
import io.easykit.delayqueue.store.SendOutboxException;
import io.easykit.delayqueue.time.LoopExecutor;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores the messages of the outbox in the queue, on one thread of its own.
 *
 * <p><b>Protocol.</b> A transaction writes a row at the send, under the name of its process, the owner. After the commit the
 * process wakes its relay, which reads the committed rows of the owners whose leases it holds ({@link OutboxLeases}), stores
 * their messages, and deletes the rows ({@link OutboxPass}). The database is the only memory: a wake-up that is lost costs
 * {@link OutboxLeases#interval} at most, and a process that dies loses nothing. Another one takes its lease, and goes on.
 *
 * <p><b>Twice.</b> A row is stored once more if it could not be deleted after it was stored (the process died in between), if
 * the store did not reply, or if the holder of the lease paused for half of the lease at the wrong moment. The second message has
 * the id and the nonce of the first. If the first is still live, the store recognizes it. If it has ended meanwhile, the second
 * one is delivered too, as the same incarnation.
 *
 * <p><b>Order.</b> Messages of one owner and one shard are stored in the order of the numbers of their rows, so those of a
 * transaction in the order of its sends. A transaction that commits later than one with greater numbers comes later, but before
 * those that begin after its commit ({@link OutboxCommits}). Messages that the store refuses one by one are overtaken. While rows are
 * left out, a transaction can be overtaken as well if its callbacks after the commit have not run when a later page of a pass is read.
 *
 * <p><b>Passes.</b> A whole pass reads all rows. While rows are left out ({@link OutboxBlocks}), a commit does not read them: most
 * passes begin where the last one ended. When a block has ended, a pass begins at the first row, and skips the others that are left
 * out as soon as the block is made again, up to the first row of the next block that has ended. Late commits of other owners wait for
 * a whole pass. One follows after {@link OutboxLeases#interval}, or later if whole passes take long.
 */
final class OutboxRelay implements OutboxAdmin {

    private static final Logger log = LoggerFactory.getLogger(OutboxRelay.class);

    private static final long COUNT_EVERY = TimeUnit.SECONDS.toNanos(10);
    private static final long AGAIN_AFTER = TimeUnit.SECONDS.toNanos(1);
    private static final int REST_FACTOR = 9;
    private static final int MANY_PAGES = 10;
    private static final long MOST_REST = TimeUnit.MINUTES.toNanos(1);
    private static final long SOON = TimeUnit.MILLISECONDS.toNanos(10);

    private final SendOutbox outbox;
    private final LoopExecutor loops;
    private final OutboxLeases leases;
    private final OutboxBlocks blocks;
    private final OutboxPass pass;
    private final OutboxLog lines;
    private final OutboxClock clock;
    private final OutboxCommits commits = new OutboxCommits();
    private final Map<String, Long> lastRead = new HashMap<>();
    private boolean wasAlone;
    private long retryAt;
    private long wholeAt;
    private long countedAt;
    private volatile LoopExecutor.@Nullable Loop loop;
    private volatile CountDownLatch ended = new CountDownLatch(0);
    private volatile boolean stopped;
    private volatile @Nullable Backlog backlog;
    private volatile int refusedTopics;

    OutboxRelay(
            SendOutbox outbox,
            OutboxLeases leases,
            OutboxStorage storage,
            OutboxClock clock,
            OutboxLog lines,
            LoopExecutor loops) {
        this.outbox = outbox;
        this.leases = leases;
        this.clock = clock;
        this.lines = lines;
        this.loops = loops;
        this.blocks = new OutboxBlocks(loops::nanos);
        this.pass = new OutboxPass(outbox, storage, blocks, lines);
        this.wholeAt = loops.nanos();
        this.retryAt = wholeAt;
        this.countedAt = loops.nanos() - COUNT_EVERY;
    }

    SendOutbox outbox() {
        return outbox;
    }

    /** Name of this process in its rows. */
    String owner() {
        return leases.name();
    }

    OutboxClock clock() {
        return clock;
    }

    OutboxCommits commits() {
        return commits;
    }

    @Override
    public synchronized void start() {
        if (loop == null) {
            stopped = false;
            CountDownLatch before = ended;
            CountDownLatch end = new CountDownLatch(1);
            ended = end;
            // A loop that waits for a reply while it is stopped ends later.
            LoopExecutor.Loop created =
                    loops.create("delay-queue-outbox", () -> before.getCount() > 0 ? SOON : step(end));
            try {
                created.start();
            } catch (Throwable e) {
                ended = before; // the next start waits for that loop, too
                throw e;
            }
            loop = created;
        }
    }

    @Override
    public void stop(Duration timeout) {
        beginStop();
        try {
            if (!loops.await(ended, timeout)) {
                log.debug("The relay of the outbox still waits for a reply");
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    /** Does not wait. */
    synchronized void beginStop() {
        stopped = true;
        wake();
        loop = null;
    }

    @Override
    public @Nullable Stats stats() {
        Backlog counted = backlog;
        if (counted == null) {
            return null;
        }
        long age = counted.rows() == 0 ? 0 : Math.max(0, clock.millis() - counted.oldest());
        return new Stats(counted.rows(), Duration.ofMillis(age), refusedTopics);
    }

    void wake() {
        LoopExecutor.Loop running = loop;
        if (running != null) {
            running.wake();
        }
    }

    private long step(CountDownLatch end) {
        if (stopped || ended != end) {
            leave();
            end.countDown();
            return LoopExecutor.END;
        }
        long rest = AGAIN_AFTER;
        try {
            if (leases.renew()) {
                clock.read();
            }
            relay();
            lines.databaseAnswered();
            takeFree();
            rest = stopped ? 0 : rest();
        } catch (SendOutboxException failed) {
            lines.databaseFailed(failed);
        } catch (RuntimeException defect) {
            lines.faulty(defect);
        }
        count();
        return rest;
    }

    /** Throws nothing, because the next start waits for the end of this loop. */
    private void leave() {
        try {
            // Another process would store again what could not be deleted. It waits for the lease.
            pass.deleteStored();
            leases.releaseAll();
        } catch (Throwable e) {
            leaveFailed(e);
        }
    }

    private void leaveFailed(Throwable failure) {
        try {
            if (failure instanceof SendOutboxException failed) {
                lines.databaseFailed(failed);
            } else if (failure instanceof RuntimeException defect) {
                lines.faulty(defect);
            } else {
                log.debug("The relay of the outbox has kept its leases until they end", failure);
            }
        } catch (Throwable e) {
            // Such as a class of the logging, if the class loader of the application is closed.
        }
    }

    /** The relay of what this process holds goes on if the query for other owners fails. */
    private void takeFree() {
        try {
            if (leases.takeFree()) {
                lines.ownersRead();
            }
        } catch (SendOutboxException failed) {
            lines.ownersFailed(failed);
        }
    }

    private void relay() {
        pass.deleteStored();
        // Of an owner whose lease was lost, and is taken again, all rows are read.
        lastRead.keySet().retainAll(leases.held());
        long begin = loops.nanos();
        boolean whole = blocks.isEmpty() || begin - wholeAt >= 0;
        boolean retries = whole || (begin - retryAt >= 0 && blocks.canEndSome());
        Map<String, Long> known = whole ? Map.of() : Map.copyOf(lastRead);
        if (retries) {
            blocks.endSome();
            lastRead.clear();
        }
        boolean isAlone = leases.held().stream().allMatch(leases::isOwn);
        if (!isAlone || !wasAlone) {
            blocks.forgetFirstRows();
        }
        wasAlone = isAlone;
        List<OutboxPass.Run> runs = leases.held().stream()
                .map(owner -> pass.run(
                        owner,
                        range(owner, known),
                        () -> !stopped && leases.mayStore(owner),
                        () -> leases.isOwn(owner) ? becameVisible() : OutboxCommits.NONE))
                .toList();
        commits.beginPass();
        // One page of each owner in turn: a backlog of one does not hold up the others.
        List<OutboxPass.Run> open = runs;
        int pages = 0;
        while (!open.isEmpty()) {
            pages++;
            open = open.stream().filter(OutboxPass.Run::storePage).toList();
            runs.stream().filter(run -> leases.isOwn(run.owner())).forEach(run -> commits.read(run.last()));
        }
        for (OutboxPass.Run run : runs) {
            lastRead.put(run.owner(), run.last());
            if (run.hasStored()) {
                leases.hasStored(run.owner());
                lines.stored();
            }
            if (retries && !leases.isOwn(run.owner())) {
                giveUp(run.owner());
            }
        }
        long end = loops.nanos();
        long longRest = end + restAfterLong(end - begin);
        retryAt = !retries ? retryAt : !whole && pages > MANY_PAGES ? longRest : end + AGAIN_AFTER;
        wholeAt = whole ? longRest : wholeAt;
        refusedTopics = blocks.refusedTopics();
        if (retries && blocks.isEmpty()) {
            lines.drained();
        }
    }

    /** Gives up the lease of another owner that needs this process no more, or that it cannot help. Topics that are left out count. */
    private void giveUp(String owner) {
        if (outbox.rows(owner, 0, Set.of(), 1).isEmpty()) {
            leases.release(owner);
        } else if (leases.passOnIfStuck(owner)) {
            lines.passedOn();
        }
    }

    /** Own rows after the returned number have become visible. If this pass fails, the next one begins there. */
    private long becameVisible() {
        long number = commits.takeVisible(!blocks.isEmpty());
        lastRead.computeIfPresent(owner(), (owner, last) -> Math.min(last, number));
        blocks.becameVisible(number);
        return number;
    }

    private long restAfterLong(long duration) {
        return Math.max(leases.interval(), Math.min(MOST_REST, REST_FACTOR * duration));
    }

    private OutboxPass.Range range(String owner, Map<String, Long> known) {
        return new OutboxPass.Range(lastRead.getOrDefault(owner, 0L), known.getOrDefault(owner, 0L));
    }

    private long rest() {
        boolean isForeign = leases.held().stream().anyMatch(owner -> !leases.isOwn(owner));
        return blocks.isEmpty() && !isForeign ? leases.interval() : Math.min(AGAIN_AFTER, leases.interval());
    }

    /** Also while the relay fails: the age of the rows is needed most then. */
    private void count() {
        if (loops.nanos() - countedAt >= COUNT_EVERY) {
            countedAt = loops.nanos();
            backlog = null;
            try {
                backlog = outbox.backlog();
                lines.counted();
            } catch (RuntimeException failed) {
                lines.countFailed(failed);
            }
        }
    }
}
