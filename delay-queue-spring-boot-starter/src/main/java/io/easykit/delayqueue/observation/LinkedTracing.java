package io.easykit.delayqueue.observation;

import io.micrometer.observation.Observation;
import io.micrometer.tracing.Link;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.handler.TracingObservationHandler;

/**
 * Spans of deliveries that begin a trace of their own, with a link to each send. Micrometer's handler for receivers makes
 * children only: a trace would last as long as the delay of its messages.
 */
public final class LinkedTracing implements TracingObservationHandler<HandleContext> {

    private final Tracer tracer;

    public LinkedTracing(Tracer tracer) {
        this.tracer = tracer;
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
