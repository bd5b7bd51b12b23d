package io.easykit.delayqueue.observation;

import io.micrometer.observation.Observation;
import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.handler.PropagatingSenderTracingObservationHandler;
import io.micrometer.tracing.propagation.Propagator;
import java.util.Objects;

/** Spans of sends. Messages always get a header {@value TraceParent#HEADER}, whatever else the propagator writes. */
public final class SendTracing extends PropagatingSenderTracingObservationHandler<SendContext> {

    public SendTracing(Tracer tracer, Propagator propagator) {
        super(tracer, propagator);
    }

    @Override
    public void onStart(SendContext context) {
        super.onStart(context);
        TraceContext trace = getRequiredSpan(context).context();
        if (!trace.traceId().isEmpty() && !trace.spanId().isEmpty()) {
            String header = TraceParent.header(trace.traceId(), trace.spanId(), Boolean.TRUE.equals(trace.sampled()));
            Objects.requireNonNull(context.getCarrier()).putIfAbsent(TraceParent.HEADER, header);
        }
    }

    @Override
    public boolean supportsContext(Observation.Context context) {
        return context instanceof SendContext;
    }
}
