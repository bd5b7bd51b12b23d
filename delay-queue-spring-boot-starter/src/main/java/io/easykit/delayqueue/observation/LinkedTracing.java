package io.easykit.delayqueue.observation;

import io.micrometer.observation.Observation;
import io.micrometer.tracing.BaggageInScope;
import io.micrometer.tracing.Link;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.handler.TracingObservationHandler;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Spans of deliveries that begin a trace of their own, with a link to each send. Micrometer's handler for receivers makes
 * children only: a trace would last as long as the delay of its messages.
 */
public final class LinkedTracing implements TracingObservationHandler<HandleContext> {

    private static final Logger log = LoggerFactory.getLogger(LinkedTracing.class);

    private final Tracer tracer;
    private final List<String> remoteFields;

    /** @param remoteFields names of baggage that has a header of its own */
    public LinkedTracing(Tracer tracer, List<String> remoteFields) {
        this.tracer = tracer;
        this.remoteFields = List.copyOf(remoteFields);
    }

    @Override
    public void onStart(HandleContext context) {
        Span.Builder span =
                tracer.spanBuilder().setNoParent().kind(Span.Kind.CONSUMER).name(getSpanName(context));
        context.origins().forEach(origin -> span.addLink(new Link(traceContext(origin))));
        getTracingContext(context).setSpan(span.start());
    }

    private TraceContext traceContext(TraceParent origin) {
        return tracer.traceContextBuilder()
                .traceId(origin.traceId())
                .spanId(origin.spanId())
                .sampled(origin.sampled())
                .build();
    }

    @Override
    public String getSpanName(HandleContext context) {
        String name = context.getContextualName();
        return name == null ? String.valueOf(context.getName()) : name;
    }

    /**
     * Restores the sender's baggage for the delivery, whose span has no parent to inherit it from. A scope may be opened again
     * inside itself, and on other threads by context propagation; each one closes its own baggage.
     */
    @Override
    public void onScopeOpened(HandleContext context) {
        TracingObservationHandler.super.onScopeOpened(context);
        Deque<BaggageInScope> open = new ArrayDeque<>();
        openScopes(context).push(open);
        Baggage.of(context.messages(), remoteFields).forEach((name, value) -> {
            try {
                open.push(tracer.createBaggageInScope(name, value));
            } catch (RuntimeException e) {
                // The context of a message must not fail its run.
                log.debug("The baggage {} of a message cannot be set", name, e);
            }
        });
    }

    @Override
    public void onScopeClosed(HandleContext context) {
        Deque<BaggageInScope> open = openScopes(context).poll();
        if (open != null) {
            open.forEach(BaggageInScope::close);
        }
        TracingObservationHandler.super.onScopeClosed(context);
    }

    /** The open scopes of a delivery on this thread, the latest one first. */
    private static Deque<Deque<BaggageInScope>> openScopes(HandleContext context) {
        return context.computeIfAbsent(BaggageScopes.class, any -> new BaggageScopes(new ConcurrentHashMap<>()))
                .byThread()
                .computeIfAbsent(Thread.currentThread(), any -> new ArrayDeque<>());
    }

    private record BaggageScopes(Map<Thread, Deque<Deque<BaggageInScope>>> byThread) {}

    @Override
    public void onStop(HandleContext context) {
        Span span = getRequiredSpan(context);
        span.name(getSpanName(context));
        tagSpan(context, span);
        endSpan(context, span);
    }

    @Override
    public boolean supportsContext(Observation.Context context) {
        return context instanceof HandleContext delivery && delivery.isLinked();
    }

    @Override
    public Tracer getTracer() {
        return tracer;
    }
}
