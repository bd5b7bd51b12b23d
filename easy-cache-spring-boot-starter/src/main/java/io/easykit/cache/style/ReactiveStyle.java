package io.easykit.cache.style;

import io.easykit.cache.async.Futures;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ReactiveAdapter;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

/**
 * Methods that return a {@code Mono}, or another publisher of one value. Nothing happens before the subscription, and each
 * subscription is a call of its own. A subscriber that cancels does not stop a load, which other readers may wait for.
 *
 * <p>Loaded only if Reactor is present.
 */
final class ReactiveStyle implements CallStyle {

    private final ReactiveAdapter adapter;
    private final Futures futures;

    ReactiveStyle(ReactiveAdapter adapter, Futures futures) {
        this.adapter = adapter;
        this.futures = futures;
    }

    @Override
    public Object run(Work work) {
        Mono<Object> value = Mono.deferContextual(context -> Mono.fromFuture(start(work, context), true));
        return adapter.fromPublisher(value);
    }

    @Override
    public Object read(Read read) {
        Mono<Object> value = Mono.deferContextual(context ->
                Mono.fromFuture(ReactiveLoads.call(context, () -> read.start(place(context), futures)), true));
        return adapter.fromPublisher(value);
    }

    private CompletableFuture<@Nullable Object> start(Work work, ContextView context) {
        return ReactiveLoads.call(context, () -> futures.start(() -> work.run(place(context))));
    }

    private Place place(ContextView context) {
        return new Place(
                result -> Futures.await(subscribe(result, context)),
                result -> Futures.awaitUninterruptibly(subscribe(result, context)),
                result -> subscribe(result, context),
                true,
                ReactiveTransactions.isActive(context));
    }

    private @Nullable CompletableFuture<Object> subscribe(@Nullable Object result, ContextView context) {
        return result == null
                ? null
                : Mono.from(adapter.toPublisher(result))
                        .contextWrite(ReactiveLoads.put(context))
                        .toFuture();
    }
}
