package io.easykit.cache.springcache;

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
        Mono<Object> value =
                Mono.deferContextual(context -> Mono.fromFuture(futures.start(() -> work.run(place(context))), true));
        return adapter.fromPublisher(value);
    }

    private Place place(ContextView context) {
        Awaiter awaiter = result -> result == null
                ? null
                : Futures.await(Mono.from(adapter.toPublisher(result))
                        .contextWrite(context)
                        .toFuture());
        return new Place(awaiter, true, ReactiveTransactions.isActive(context));
    }
}
