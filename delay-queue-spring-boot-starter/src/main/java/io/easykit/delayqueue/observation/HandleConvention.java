package io.easykit.delayqueue.observation;

import io.easykit.delayqueue.DelayMessage;
import io.micrometer.common.KeyValues;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/** Names of the observation of a call of a handler, as in the semantic conventions of OpenTelemetry. */
class HandleConvention implements ObservationConvention<HandleContext> {

    private static final KeyValues OPERATION = KeyValues.of(
            "messaging.system",
            "delayqueue",
            "messaging.operation.name",
            "process",
            "messaging.operation.type",
            "process");

    @Override
    public String getName() {
        return "delayqueue.handle";
    }

    @Override
    public String getContextualName(HandleContext context) {
        return "process " + context.endpoint().topic();
    }

    @Override
    public KeyValues getLowCardinalityKeyValues(HandleContext context) {
        return OPERATION.and("messaging.destination.name", context.destination());
    }

    @Override
    public KeyValues getHighCardinalityKeyValues(HandleContext context) {
        int count = context.messages().size();
        if (context.endpoint().batchSize() > 1) {
            return KeyValues.of("messaging.batch.message_count", Integer.toString(count));
        }
        DelayMessage<Object> message = context.messages().get(0);
        return KeyValues.of(
                "messaging.message.id", message.id(), "delayqueue.attempt", Integer.toString(message.attempt()));
    }

    @Override
    public boolean supportsContext(Observation.Context context) {
        return context instanceof HandleContext;
    }
}
