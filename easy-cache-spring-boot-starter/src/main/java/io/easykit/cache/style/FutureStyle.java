package io.easykit.cache.style;

import io.easykit.cache.async.Futures;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Methods that return a future. The call begins at once. */
@SuppressWarnings("FutureReturnValueIgnored") // the caller of the method gets it
final class FutureStyle implements CallStyle {

    private static final Place PLACE = new Place(
            result -> Futures.await(stage(result)),
            result -> Futures.awaitUninterruptibly(stage(result)),
            FutureStyle::stage,
            true,
            false);

    private final Futures futures;

    FutureStyle(Futures futures) {
        this.futures = futures;
    }

    @Override
    public @Nullable Object run(Work work) {
        return futures.start(() -> work.run(PLACE));
    }

    @Override
    public @Nullable Object read(Read read) {
        return read.start(PLACE, futures);
    }

    @SuppressWarnings("unchecked") // the type that the method declares
    private static @Nullable CompletionStage<Object> stage(@Nullable Object result) {
        return (CompletionStage<Object>) result;
    }
}
