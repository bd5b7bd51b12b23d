package io.easykit.console;

import java.util.List;

/** A list that all nodes share, the latest line first. Methods throw an exception if the store does not answer. */
public interface AuditStore {

    /** The store refuses a call, and will refuse it again until its cause is corrected. */
    final class Refused extends RuntimeException {

        private static final long serialVersionUID = 1L;

        /** @param cause says what to correct */
        public Refused(RuntimeException cause) {
            super(cause.getMessage(), cause);
        }
    }

    /**
     * Adds a line.
     *
     * @param most lines that are kept
     */
    void add(String line, int most);

    /**
     * Reads lines.
     *
     * @param skip  how many of the latest are left out
     * @param count at most this many
     */
    List<String> read(long skip, int count);
}
