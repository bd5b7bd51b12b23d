package io.easykit.delayqueue.observation;

import io.micrometer.common.KeyValues;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/** Names of the observation of a send, as in the semantic conventions of OpenTelemetry. */
class SendConvention implements ObservationConvention<SendContext> {

    private static final KeyValues OPERATION = KeyValues.of(
            "messaging.system", "delayqueue", "messaging.operation.name", "send", "messaging.operation.type", "send");

    @Override
    public String getName() {
        return "delayqueue.send";
    }

    @Override
    public String getContextualName(SendContext context) {
        return "send " + ObservedMessages.topicOf(context.messages());
    }

    @Override
    public KeyValues getLowCardinalityKeyValues(SendContext context) {
        return OPERATION.and("messaging.destination.name", context.destination());
    }

    @Override
    public KeyValues getHighCardinalityKeyValues(SendContext context) {
        int count = context.messages().size();
        if (count > 1) {
            return KeyValues.of("messaging.batch.message_count", Integer.toString(count));
        }
        String id = context.messageId();
        return id == null ? KeyValues.empty() : KeyValues.of("messaging.message.id", id);
    }

    @Override
    public boolean supportsContext(Observation.Context context) {
        return context instanceof SendContext;
    }
}
