package io.easykit.cache.engine;

import io.easykit.cache.CacheSpec;
import io.easykit.cache.ValueCodec;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Encodes values for the store, and refuses those that would be decoded to another value.
 *
 * <p>Each value is decoded again before it is stored, and compared with the original ({@link DeepComparison}). That costs less
 * than the load that came before it, and hits do not pay for it. A check of the first value alone would not do: the same
 * method may return a subclass, or another number type in a {@code Map<String, Object>}, only later.
 *
 * <p>A refused value is returned to its callers and not stored. A warning names the first one of several in a row, at
 * most once a minute for each cache and class.
 * Where several values in a row were refused, most of the later ones are not even tried.
 */
final class VerifyingEncoder {

    private static final Logger log = LoggerFactory.getLogger(VerifyingEncoder.class);

    /** After so many refusals in a row only every {@link #TRIAL}th value is tried. */
    private static final int ENOUGH = 3;

    private static final int TRIAL = 100;

    /** Classes that are generated again and again must not fill the memory. */
    private static final int MOST = 10_000;

    private final ValueCodec codec;
    private final Ticker ticker;
    private final Map<Subject, Refusals> refusals = new ConcurrentHashMap<>();

    VerifyingEncoder(ValueCodec codec, Ticker ticker) {
        this.codec = codec;
        this.ticker = ticker;
    }

    /** Null if the value must not be stored. */
    byte @Nullable [] encode(Object value, CacheSpec<?> spec) {
        Subject subject = new Subject(spec.clusterId(), spec.prefix(), value.getClass());
        Refusals refused = refusals.get(subject);
        if (refused != null && refused.inARow.get() >= ENOUGH && refused.inARow.incrementAndGet() % TRIAL != 0) {
            return null;
        }
        try {
            byte[] bytes = codec.encode(value, spec.type());
            String difference = DeepComparison.difference(value, codec.decode(bytes, spec.type()));
            if (difference == null) {
                if (refused != null) {
                    refused.inARow.set(0);
                }
                return bytes;
            }
            refuse(subject, "it would come back changed (at value" + difference + ")");
        } catch (Throwable unfit) {
            refuse(subject, "it cannot be written and read again (" + ErrorText.by(codec, unfit) + ")");
        }
        return null;
    }

    private void refuse(Subject subject, String reason) {
        if (refusals.size() >= MOST) {
            refusals.clear();
        }
        Refusals refused = refusals.computeIfAbsent(subject, any -> new Refusals(ticker));
        if (refused.inARow.incrementAndGet() == 1 && refused.line.isDue()) {
            log.warn(
                    "Cannot cache a {} in '{}': {}. The method is called each time instead. Return a class all of"
                            + " whose fields survive JSON, with a constructor without parameters or one with"
                            + " @JsonCreator (a record needs neither), declare exactly that class, and annotate"
                            + " base types with @JsonTypeInfo; see \"Values\" in the documentation.",
                    subject.type.getTypeName(),
                    subject.prefix,
                    reason);
        }
        log.debug("Refused a value of '{}': {}", subject.prefix, reason);
    }

    private record Subject(String clusterId, String prefix, Class<?> type) {}

    /** Kept after a value that was accepted, for the next line. */
    private record Refusals(AtomicInteger inARow, RateLimitedLog line) {

        Refusals(Ticker ticker) {
            this(new AtomicInteger(), new RateLimitedLog(ticker));
        }
    }
}
