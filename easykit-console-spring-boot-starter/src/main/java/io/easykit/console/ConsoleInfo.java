package io.easykit.console;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Facts about this console for the page.
 *
 * @param path     path of the console, such as {@code /easykit}
 * @param node     name of this process
 * @param versions versions by product
 * @param label    word for the environment, or null
 * @param color    its color in CSS, or null
 * @param links    other consoles
 */
public record ConsoleInfo(
        String path,
        String node,
        Map<String, String> versions,
        @Nullable String label,
        @Nullable String color,
        List<Link> links) {

    /** Another console. */
    public record Link(String label, String href) {}
}
