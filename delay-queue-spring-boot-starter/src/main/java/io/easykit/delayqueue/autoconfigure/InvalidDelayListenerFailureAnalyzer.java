package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.listener.InvalidDelayListenerException;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says what to do about listeners that cannot work. */
final class InvalidDelayListenerFailureAnalyzer extends AbstractFailureAnalyzer<InvalidDelayListenerException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, InvalidDelayListenerException cause) {
        List<Problem> problems = Stream.concat(Stream.of(cause), cause.others().stream())
                .map(one -> new Problem(one.problem(), one.remedy()))
                .toList();
        return Problem.analysis(problems, cause);
    }
}
