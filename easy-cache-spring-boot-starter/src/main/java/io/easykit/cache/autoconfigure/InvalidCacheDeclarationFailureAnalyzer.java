package io.easykit.cache.autoconfigure;

import io.easykit.cache.aop.InvalidCacheDeclarationException;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says what to do about annotations that cannot work. */
final class InvalidCacheDeclarationFailureAnalyzer extends AbstractFailureAnalyzer<InvalidCacheDeclarationException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, InvalidCacheDeclarationException cause) {
        List<Problem> problems = Stream.concat(Stream.of(cause), cause.others().stream())
                .map(one -> new Problem(one.problem(), one.remedy()))
                .toList();
        return Problem.analysis(problems, cause);
    }
}
