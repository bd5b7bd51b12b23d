package io.easykit.cache.autoconfigure;

import io.easykit.cache.aop.InvalidCacheDeclarationException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says what to do about an annotation that cannot work. */
final class InvalidCacheDeclarationFailureAnalyzer extends AbstractFailureAnalyzer<InvalidCacheDeclarationException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, InvalidCacheDeclarationException cause) {
        return new FailureAnalysis(cause.problem(), cause.remedy(), cause);
    }
}
