package io.easykit.console;

/** Counts requests and jobs. */
public interface ConsoleMeters {

    /** Counts nothing. */
    ConsoleMeters NONE = (meter, action, outcome) -> {};

    /** Name of the meter of requests: reads and changes. Outcomes: {@code done}, {@code refused}, {@code failed}. */
    String REQUESTS = "easykit.console.requests";

    /**
     * Name of the meter of jobs that were started, stopped or continued through this node. Outcomes: {@code started},
     * {@code stopped}, {@code continued}.
     */
    String JOBS = "easykit.console.jobs";

    /** Adds one to a counter. */
    void count(String meter, String action, String outcome);
}
