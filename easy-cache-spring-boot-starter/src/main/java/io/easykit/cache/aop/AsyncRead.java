package io.easykit.cache.aop;

import io.easykit.cache.CacheKey;
import io.easykit.cache.EasyCache;
import io.easykit.cache.Loader;
import io.easykit.cache.style.CallStyle;
import io.easykit.cache.style.CallStyle.Awaiter;
import io.easykit.cache.style.CallStyle.Place;
import io.easykit.cache.style.CallersKeys;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;

/**
 * A call of a {@code @Cacheable} method that returns a future or a publisher. The key is computed on the thread of the caller, at each
 * subscription, and on the thread that calls the method. A read of one value holds no thread while it waits. A batch is a blocking
 * read on a thread of the cache, which waits for the result of the method.
 *
 * <p>Inside a reactive transaction that began before the subscription, the method runs without the cache: a value that it reads there
 * may be rolled back, and a cached one may be older than the changes of the transaction.
 */
final class AsyncRead {

    private final HeldArguments arguments;
    private final ReadOperation operation;
    private final Call call;
    private final Supplier<EasyCache> cache;

    AsyncRead(ProxyMethodInvocation invocation, ReadOperation operation, Supplier<EasyCache> cache) {
        this.arguments = HeldArguments.copiesOf(invocation);
        this.operation = operation;
        this.call = Call.of(arguments.invocation());
        this.cache = cache;
    }

    @Nullable Object run(CallStyle style) throws Throwable {
        BatchMethod batch = operation.key().batch();
        return batch == null ? runSingle(style) : runBatch(style, batch);
    }

    private @Nullable Object runSingle(CallStyle style) throws Throwable {
        CacheKey<Object> key = operation.key(call);
        boolean isMock = cache.get().async() == null;
        return isMock ? style.run(place -> readByMock(key, place.load())) : style.read(new SingleRead(key));
    }

    /** A mock of the cache has no asynchronous calls, unless a test adds them. */
    private @Nullable Object readByMock(CacheKey<Object> key, Awaiter awaiter) throws Throwable {
        CachedCall loader = new CachedCall(arguments, operation, key, awaiter);
        return operation.storesAll()
                ? cache.get().fetch(key, loader)
                : cache.get().fetch(key, loader, value -> operation.mayStore(call, value));
    }

    /** Its keys are elements of the arguments, which are copied here. They do not depend on the thread. */
    private @Nullable Object runBatch(CallStyle style, BatchMethod batch) throws Throwable {
        ProxyMethodInvocation invocation = arguments.invocation();
        List<Object> elements = new CachedBatchCall(invocation, operation, batch, Awaiter.NONE).elements();
        return style.run(
                place -> new CachedBatchCall(arguments.next(), operation, batch, place.load())
                        .fetch(cache.get(), elements),
                this::callUncached);
    }

    private @Nullable Object callUncached() throws Throwable {
        return ExposeInvocationInterceptor.INSTANCE.invoke(arguments.next());
    }

    /** A read of one value, once for each subscription. */
    private final class SingleRead implements CallStyle.Read {

        private final CacheKey<Object> key;
        private final CallersKeys callers;

        SingleRead(CacheKey<Object> key) {
            this.key = key;
            this.callers = new CallersKeys(List.of(key), call.getMethod(), arguments.mayChange());
        }

        @Override
        public @Nullable CompletableFuture<@Nullable Object> begin(Place place) {
            if (!callers.areSame(this::keys)) {
                return null;
            }
            LaterCall loader = new LaterCall(new CachedCall(arguments, operation, key, place.load()), place, this);
            return cache.get().async().fetch(key, loader, value -> operation.mayStore(call, value));
        }

        private boolean mayBeCached() {
            return callers.pass(this::keys);
        }

        private boolean belongsToKey() {
            return !arguments.mayChange() || callers.areUnchanged(this::keys);
        }

        private List<CacheKey<Object>> keys() {
            return List.of(operation.key(call));
        }

        @Override
        public @Nullable Object readUncached(Place place) throws Throwable {
            return place.load().await(callUncached());
        }

        @Override
        public @Nullable Object call() throws Throwable {
            return callUncached();
        }
    }

    /** Loads by the rest of the invocation, and does not wait for the result of the method. */
    private record LaterCall(CachedCall call, Place place, SingleRead read) implements Loader.Later<Object> {

        @Override
        public @Nullable CompletionStage<Object> begin() throws Throwable {
            return place.stage().of(call.invoke());
        }

        @Override
        public @Nullable Object load() throws Throwable {
            try {
                return call.load();
            } finally {
                HeldArguments.keepToCallerUnless(belongsToKey());
            }
        }

        @Override
        public @Nullable Loader<Object, Throwable> forBackground() {
            return call.forBackground();
        }

        @Override
        public boolean mayBeCached() {
            return read.mayBeCached();
        }

        @Override
        public boolean belongsToKey() {
            return read.belongsToKey();
        }
    }
}
