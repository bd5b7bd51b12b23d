package io.easykit.cache.engine;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
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

    /** The present connection to the server of a hash. */
    MarkHistory.Connection connection(int hash) {
        Repetition repetition = availability.ofEpochs(hash).repetition();
        return new MarkHistory.Connection(repetition, repetition.connections());
    }

    /** Whether a connection is the present one. Called by each read. */
    boolean isPresent(int hash, MarkHistory.@Nullable Connection over) {
        return over != null && over.isLatest(availability.ofEpochs(hash).repetition());
    }

    /** See {@link MarkHistory#isOlder}. */
    boolean isOlder(int hash, long mark, long sentAt, MarkHistory.Connection over) {
        return ofHashes.get(hash).isOlder(mark, sentAt, over);
    }

    void warnOfOlderData() {
        if (olderLine.isDue()) {
            log.warn(
                    "Redis '{}' came back with older data: it lacks more than its last {} s. So all entries are dropped, since"
                            + " some of them were invalidated later. They are loaded again when they are read. A server"
                            + " without an append-only file does this when it restarts",
                    availability.clusterId(),
                    MarkHistory.REPEATED.toSeconds());
        }
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
