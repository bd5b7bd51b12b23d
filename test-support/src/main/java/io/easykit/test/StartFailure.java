package io.easykit.test;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.io.support.SpringFactoriesLoader;

/** What an application prints when its start fails. */
public final class StartFailure {

    private StartFailure() {}

    /** By the analyzer that an application would take: the first in order that knows the failure. */
    public static FailureAnalysis analysis(@Nullable Throwable failure) {
        if (failure == null) {
            throw new AssertionError("The application started");
        }
        List<FailureAnalyzer> analyzers = SpringFactoriesLoader.forDefaultResourceLocation()
                .load(FailureAnalyzer.class, (type, name, needsArguments) -> {});
        return analyzers.stream()
                .map(analyzer -> analyzer.analyze(failure))
                .filter(Objects::nonNull)
                .findFirst()
                .orElseThrow(() -> new AssertionError("A stack trace alone", failure));
    }
}
