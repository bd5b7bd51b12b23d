package io.easykit.cache.springcache;

import io.easykit.cache.CacheKey;
import io.easykit.cache.Consistency;
import io.easykit.cache.InvalidCacheKeyException;
import io.easykit.cache.LoadAbandonedException;
import io.easykit.cache.Loader;
import io.easykit.cache.aop.ArgumentCopies;
import io.easykit.cache.aop.HeldArguments;
import io.easykit.cache.springcache.OperationEvaluator.Evaluation;
import io.easykit.cache.style.CallStyle;
import io.easykit.cache.style.CallStyle.Awaiter;
import io.easykit.cache.style.CallStyle.Place;
import io.easykit.cache.style.CallersKeys;
import io.easykit.cache.type.VisibleText;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.cache.Cache;

/**
 * A call of a {@code @Cacheable} method, with {@code sync} or without. Several caches are read one inside the other: the loader
 * of the first one reads the second one. A value that a later cache had already is returned, and not stored in the earlier ones: an
 * update may have invalidated those only.
 */
final class SpringRead {

    private final AdapterParts parts;
    private final OperationEvaluator evaluator;
    private final PassedCall call;

    SpringRead(AdapterParts parts, OperationEvaluator evaluator, PassedCall call) {
        this.parts = parts;
        this.evaluator = evaluator;
        this.call = call;
    }

    /** An entry that the call reads. */
    private record Step(CacheKey<Object> key, Evaluation evaluation) {}

    @Nullable Object run(List<Evaluation> evaluations) throws Throwable {
        List<Step> steps = steps(evaluations);
        if (steps.isEmpty()) {
            return call.proceed();
        }
        AnnotatedMethod method = call.method();
        boolean isMock = parts.cache().async() == null; // of a test, which has no asynchronous calls
        if (steps.size() == 1 && method.returned().isLater() && !isMock) {
            return method.style().read(new SingleRead(steps));
        }
        CallersKeys callers = new CallersKeys(
                keys(steps), call.call().method(), call.arguments().mayChange());
        return method.style()
                .run(
                        place -> {
                            boolean same = !place.isElsewhere() || callers.pass(this::keysNow);
                            Object content = same ? read(steps, place.load(), callers) : call.content(place.load());
                            return method.resultOf(content);
                        },
                        call::proceedByCopy);
    }

    private List<CacheKey<Object>> keysNow() {
        return keys(steps(evaluator.evaluate(call.method().operations(), call.call())));
    }

    private static List<CacheKey<Object>> keys(List<Step> steps) {
        return steps.stream().map(Step::key).toList();
    }

    private @Nullable Object read(List<Step> steps, Awaiter awaiter, CallersKeys callers) throws Throwable {
        MethodLoader method = new MethodLoader(steps, awaiter, callers);
        Loader<Object, Throwable> loader = method;
        for (int i = steps.size() - 1; i > 0; i--) {
            Step step = steps.get(i);
            Loader<Object, Throwable> inner = loader;
            loader = onCallersThread(() -> {
                method.hasRun = false;
                return fetch(step, inner, method);
            });
        }
        return fetch(steps.get(0), loader, method);
    }

    private @Nullable Object fetch(Step step, Loader<Object, Throwable> loader, MethodLoader method) throws Throwable {
        return parts.cache().fetch(step.key(), loader, value -> mayStore(step, method, value));
    }

    private boolean mayStore(Step step, MethodLoader method, @Nullable Object value) {
        return method.hasRun && parts.mayStore(value) && step.evaluation().mayStore(value);
    }

    private List<Step> steps(List<Evaluation> evaluations) {
        List<Step> steps = new ArrayList<>(evaluations.size());
        for (Evaluation evaluation : evaluations) {
            if (evaluation.applies(null)) {
                Object key = evaluation.key(null);
                for (Cache cache : evaluation.caches()) {
                    steps.add(new Step(keyIn((SpringCache) cache, key), evaluation));
                }
            }
        }
        return steps;
    }

    /** A cache that only a resolver names gets the type of this method. */
    private CacheKey<Object> keyIn(SpringCache cache, @Nullable Object key) {
        if (cache.spec().type() == Object.class) {
            parts.declarations().declare(call.method().method(), call.method().targetClass(), cache.getName());
        }
        if (key == null) {
            throw new InvalidCacheKeyException("The key of '" + cache.getName() + "' is null in a call of "
                    + call.call().method() + ". Refuse null before it, or set condition = \"#id != null\".");
        }
        return cache.key(key);
    }

    private static Loader<Object, Throwable> onCallersThread(Loader<Object, Throwable> loader) {
        return new Loader<>() {
            @Override
            public @Nullable Object load() throws Throwable {
                return loader.load();
            }

            @Override
            public @Nullable Loader<Object, ?> forBackground() {
                return null;
            }
        };
    }

    /**
     * Loads by calling the method. It may change its arguments, so a repetition gets copies of those before the first load. If they
     * cannot be copied and the keys have changed, the load is not repeated.
     */
    private final class MethodLoader implements Loader<Object, Throwable> {

        private final List<Step> steps;
        private final Awaiter awaiter;
        private final CallersKeys callers;
        private Object @Nullable [] original;
        private boolean loaded;

        /** Whether the method has run in the present attempt of the outermost load. */
        private boolean hasRun;

        MethodLoader(List<Step> steps, Awaiter awaiter, CallersKeys callers) {
            this.steps = steps;
            this.awaiter = awaiter;
            this.callers = callers;
        }

        @Override
        public @Nullable Object load() throws Throwable {
            try {
                Object content = call.content(next(), awaiter);
                hasRun = true;
                return content;
            } finally {
                HeldArguments.keepToCallerUnless(belongsToKey());
            }
        }

        /** A call that has returned or thrown on the thread of its caller belongs to the keys that it began with. */
        boolean belongsToKey() {
            boolean mayChange =
                    call.method().returned().isLater() && call.arguments().mayChange();
            return !mayChange || callers.areUnchanged(SpringRead.this::keysNow);
        }

        /** The invocation for the next load. */
        private MethodInvocation next() {
            ProxyMethodInvocation invocation = call.arguments().next();
            Object[] arguments = invocation.getArguments();
            if (!loaded) {
                loaded = true;
                boolean repeated = steps.stream()
                        .anyMatch(step -> step.key().spec().options().consistency() == Consistency.CP);
                original = repeated ? ArgumentCopies.of(arguments) : null;
                return invocation;
            }
            Object[] copies = original == null ? null : ArgumentCopies.of(original);
            Object[] again = copies == null ? arguments : copies;
            List<CacheKey<Object>> keys = keys(steps(
                    evaluator.evaluate(call.method().operations(), call.call().with(again))));
            if (!keys.equals(keys(steps))) {
                throw new LoadAbandonedException(
                        "The method has changed its arguments: the keys are no longer " + VisibleText.list(keys(steps)),
                        null);
            }
            return invocation.invocableClone(again);
        }

        /** The method may use state of its caller's thread. */
        @Override
        public @Nullable Loader<Object, ?> forBackground() {
            return null;
        }
    }

    /** A read of one cache by a method whose value arrives later, once for each subscription. */
    private final class SingleRead implements CallStyle.Read {

        private final List<Step> steps;
        private final CallersKeys callers;

        SingleRead(List<Step> steps) {
            this.steps = steps;
            this.callers = new CallersKeys(
                    keys(steps), call.call().method(), call.arguments().mayChange());
        }

        @Override
        public @Nullable CompletableFuture<@Nullable Object> begin(Place place) {
            if (!callers.areSame(SpringRead.this::keysNow)) {
                return null;
            }
            Step step = steps.get(0);
            LaterLoader loader = new LaterLoader(new MethodLoader(steps, place.load(), callers), place, callers);
            return parts.cache().async().fetch(step.key(), loader, value -> mayStore(step, loader.method, value));
        }

        @Override
        public @Nullable Object readUncached(Place place) throws Throwable {
            return call.content(place.load());
        }

        @Override
        public @Nullable Object call() throws Throwable {
            return call.proceedByCopy();
        }
    }

    /** Loads by calling the method, and does not wait for its result. */
    private final class LaterLoader implements Loader.Later<Object> {

        private final MethodLoader method;
        private final Place place;
        private final CallersKeys callers;

        LaterLoader(MethodLoader method, Place place, CallersKeys callers) {
            this.method = method;
            this.place = place;
            this.callers = callers;
        }

        @Override
        public @Nullable CompletionStage<Object> begin() throws Throwable {
            CompletionStage<Object> stage = place.stage().of(call.proceed(method.next()));
            method.hasRun = true;
            return stage;
        }

        @Override
        public @Nullable Object load() throws Throwable {
            return method.load();
        }

        @Override
        public @Nullable Loader<Object, ?> forBackground() {
            return method.forBackground();
        }

        @Override
        public boolean mayBeCached() {
            return callers.pass(SpringRead.this::keysNow);
        }

        @Override
        public boolean belongsToKey() {
            return method.belongsToKey();
        }
    }
}
