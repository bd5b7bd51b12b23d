package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.TopicConflictException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Describes how to resolve settings that contradict those stored for a topic. */
final class TopicConflictFailureAnalyzer extends AbstractFailureAnalyzer<TopicConflictException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, TopicConflictException cause) {
        return new FailureAnalysis(cause.problem(), cause.remedy(), cause);
    }
}
