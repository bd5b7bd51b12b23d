package io.easykit.test;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.io.support.SpringFactoriesLoader;

/** The output of an application whose start fails. */
public final class StartFailure {

    private StartFailure() {}

    /** Returns the analysis of the first analyzer that handles the failure, as Spring Boot does. */
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
                .orElseThrow(() -> new AssertionError("No analyzer handles the failure", failure));
    }
}
