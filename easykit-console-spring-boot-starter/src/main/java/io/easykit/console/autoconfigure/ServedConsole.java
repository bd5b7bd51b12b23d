package io.easykit.console.autoconfigure;

import io.easykit.console.Console;
import org.jspecify.annotations.Nullable;

/**
 * The console and whether it is served.
 *
 * @param console null if it is not served
 * @param path    where it is
 * @param access  its users, or the reason why it is not served, and the remedy; empty if it is disabled
 * @param open    whether it is open to all requests
 */
record ServedConsole(@Nullable Console console, String path, String access, boolean open) {

    static ServedConsole disabled(String path) {
        return new ServedConsole(null, path, "", false);
    }

    boolean isDisabled() {
        return console == null && access.isEmpty();
    }
}
