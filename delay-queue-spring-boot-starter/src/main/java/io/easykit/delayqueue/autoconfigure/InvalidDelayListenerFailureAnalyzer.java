package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.listener.InvalidDelayListenerException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says what to do about a listener that cannot work. */
final class InvalidDelayListenerFailureAnalyzer extends AbstractFailureAnalyzer<InvalidDelayListenerException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, InvalidDelayListenerException cause) {
        return new FailureAnalysis(cause.problem(), cause.remedy(), cause);
    }
}
