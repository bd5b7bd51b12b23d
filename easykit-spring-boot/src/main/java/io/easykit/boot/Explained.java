package io.easykit.boot;

import java.util.List;

/**
 * An exception with a description and a remedy. If it fails the start, Spring Boot prints both in place of the stack
 * trace.
 */
public interface Explained {

    /** Returns at least one problem. */
    List<Problem> problems();
}
