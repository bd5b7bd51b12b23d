package io.easykit.benchmarks.contender;

import io.easykit.cache.CacheKey;
import io.easykit.cache.Envelope;
import io.easykit.cache.ValueCodec;
import java.lang.reflect.Type;
import java.time.Duration;

/** Has a fresh value under every key, in no time. */
final class FullStore extends FixedStore {

    /** Format version 1, kind "value", no payload. */
    private static final Envelope ENVELOPE = Envelope.wrap(new byte[] {1, 0}, 0);

    private static final Snapshot HIT = new Snapshot(ENVELOPE, true, false, false, false, Duration.ofMinutes(9));

    @Override
    public Snapshot read(CacheKey<?> key, long epoch) {
        return HIT;
    }

    /** Decodes anything to the same product. */
    record OneProduct(Product product) implements ValueCodec {

        @Override
        public byte[] encode(Object value, Type type) {
            return new byte[0];
        }

        @Override
        public Object decode(byte[] bytes, Type type) {
            return product;
        }
    }
}
