package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.TopicConflictException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says what to do about settings of a topic that contradict what holds for it already. */
final class TopicConflictFailureAnalyzer extends AbstractFailureAnalyzer<TopicConflictException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, TopicConflictException cause) {
        return new FailureAnalysis(cause.problem(), cause.remedy(), cause);
    }
}
