package io.easykit.cache.autoconfigure;

import java.util.List;

/** Steps of a stop that are all made: the failure of one leaves out no other. */
final class StopSteps {

    private StopSteps() {}

    /** Makes all steps in their order. Then it throws the first failure, with the others as suppressed ones. */
    static void make(List<Runnable> steps) {
        Throwable first = null;
        for (Runnable step : steps) {
            try {
                step.run();
            } catch (RuntimeException | Error failure) {
                if (first == null) {
                    first = failure;
                } else if (first != failure) {
                    first.addSuppressed(failure);
                }
            }
        }
        if (first instanceof Error error) {
            throw error;
        }
        if (first != null) {
            throw (RuntimeException) first;
        }
    }
}
