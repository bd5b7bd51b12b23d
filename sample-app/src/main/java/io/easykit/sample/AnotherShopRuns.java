package io.easykit.sample;

import java.sql.SQLException;
import java.util.stream.Stream;
import org.h2.api.ErrorCode;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;

/** Reports that the data directory is in use: the database and the embedded Redis belong to one process. */
final class AnotherShopRuns implements FailureAnalyzer {

    @Override
    public @Nullable FailureAnalysis analyze(Throwable failure) {
        boolean isInUse = Stream.iterate(failure, cause -> cause != null, Throwable::getCause)
                .anyMatch(cause ->
                        cause instanceof SQLException sql && sql.getErrorCode() == ErrorCode.DATABASE_ALREADY_OPEN_1);
        return isInUse
                ? new FailureAnalysis(
                        "Another shop is running on this data directory.",
                        "Stop it, or start this one with --shop.data-dir=./other-data and --server.port=8081.",
                        failure)
                : null;
    }
}
