package io.easykit.cache.engine;

import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The {@link MarkHistory} of each hash with epochs. */
final class StoreMarks {

    private static final Logger log = LoggerFactory.getLogger(StoreMarks.class);

    private final ClusterAvailability availability;
    private final List<MarkHistory> ofHashes;
    private final RateLimitedLog olderLine;

    StoreMarks(ClusterAvailability availability, int hashes, Ticker ticker) {
        this.availability = availability;
        this.ofHashes = Stream.generate(MarkHistory::new).limit(hashes).toList();
        this.olderLine = new RateLimitedLog(ticker);
    }

    /**
     * Records a mark that was just read, or is the reply to its advance. Returns whether the server came back with older data.
     *
     * @param sentAt ticker time
     */
    boolean isOlder(int hash, long mark, long sentAt) {
        // Looked at after the reply: a connection is recorded before its first one.
        Repetition repetition = availability.ofEpochs(hash).repetition();
        MarkHistory.Connection over = new MarkHistory.Connection(repetition, repetition.connections());
        boolean older = ofHashes.get(hash).isOlder(mark, sentAt, over);
        if (older && olderLine.isDue()) {
            log.warn(
                    "Redis '{}' came back with older data: it lacks more than its last {} s. So all entries are dropped, since"
                            + " some of them were invalidated later. They are loaded again when they are read. A server"
                            + " without an append-only file does this when it restarts",
                    availability.clusterId(),
                    MarkHistory.REPEATED.toSeconds());
        }
        return older;
    }

    /**
     * See {@link MarkHistory#stands}.
     *
     * @param now ticker time
     */
    boolean stands(int hash, long now) {
        return ofHashes.get(hash).stands(now);
    }
}
