package io.easykit.boot;

import java.util.List;

/** An exception whose problems Boot prints in place of the stack trace if it fails the start. */
public interface Explained {

    /** At least one. */
    List<Problem> problems();
}
