package io.easykit.delayqueue.listener;

import io.easykit.delayqueue.DeadLetter;
import org.springframework.core.ResolvableType;

/** The signature of a method that takes dead letters. */
final class DeadLetterSignature {

    private DeadLetterSignature() {}

    /**
     * Returns the signature with the payload type of the messages that have died.
     *
     * @throws InvalidDelayListenerException if the method takes no dead letter, or one without a type
     */
    static ListenerSignature of(ListenerMethod where, ListenerSignature signature) {
        ResolvableType taken = ResolvableType.forType(signature.payloadType());
        ResolvableType payload = taken.getGeneric(0);
        if (taken.resolve() != DeadLetter.class || payload.resolve() == null) {
            throw where.problem(
                    "it gets dead letters, and takes " + signature.payloadType().getTypeName(),
                    "Declare DeadLetter<T> as its parameter, with T the payload type of the topic, for example"
                            + " DeadLetter<CloseOrder>.");
        }
        return new ListenerSignature(payload.getType(), signature.arguments(), signature.manual());
    }

    /** Refuses a method that takes dead letters, and would get messages. */
    static ListenerSignature refused(ListenerMethod where, ListenerSignature signature) {
        if (ResolvableType.forType(signature.payloadType()).resolve() == DeadLetter.class) {
            throw where.problem(
                    "it takes dead letters, and would get the messages of the topic",
                    "Use @DeadLetterListener, or take the payload of the topic.");
        }
        return signature;
    }
}
