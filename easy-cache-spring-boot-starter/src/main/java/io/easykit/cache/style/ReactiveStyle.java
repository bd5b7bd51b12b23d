package io.easykit.cache.style;

import io.easykit.cache.async.Futures;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ReactiveAdapter;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

/**
 * Methods that return a {@code Mono}, or another publisher of one value. Nothing happens before the subscription, and each
 * subscription is a call of its own. A subscriber that cancels does not stop a load, which other readers may wait for.
 *
 * <p>Work of the cache may go on when its subscriber has gone. So it does not see the transaction context of the subscriber, whose
 * connection is given back then. A read inside a transaction is no work of the cache: its subscriber cancels it.
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
        return publisher(context -> Mono.fromFuture(start(work, context), true));
    }

    @Override
    public Object run(Work work, DirectCall direct) {
        return publisher(context -> ReactiveTransactions.isActive(context)
                ? uncached(direct, context)
                : Mono.fromFuture(start(work, context), true));
    }

    @Override
    public Object read(Read read) {
        return publisher(context -> ReactiveTransactions.isActive(context)
                ? uncached(read, context)
                : Mono.fromFuture(ReactiveLoads.call(context, () -> read.start(place(context), futures)), true));
    }

    private Object publisher(Function<ContextView, Mono<Object>> value) {
        return adapter.fromPublisher(
                Mono.deferContextual(context -> ReactiveObservations.call(context, () -> value.apply(context))));
    }

    /**
     * The method as without a cache, on the thread of the subscriber. What a transaction reads may be rolled back, and a cached value
     * may be older than its changes.
     */
    private Mono<Object> uncached(DirectCall direct, ContextView context) {
        return ReactiveLoads.call(context, () -> {
            try {
                return from(direct.call()).contextWrite(ReactiveLoads.put(context));
            } catch (Throwable failure) {
                return Mono.error(failure);
            }
        });
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
                : from(result)
                        .contextWrite(inside(ReactiveTransactions.without(context)))
                        .toFuture();
    }

    /** The context of what runs in the load and the observation of this thread. */
    private static ContextView inside(ContextView context) {
        return ReactiveObservations.put(ReactiveLoads.put(context));
    }

    private Mono<Object> from(@Nullable Object result) {
        return result == null ? Mono.empty() : Mono.from(adapter.toPublisher(result));
    }
}
