package io.easykit.delayqueue.store;

import io.easykit.delayqueue.admin.NodeInfo;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * Description of a node by itself.
 *
 * @param application name of the application, or empty
 * @param host        name of the host
 * @param versions    versions by the name of the software
 * @param uptime      since the start
 * @param listeners   that run
 */
public record NodeReport(
        String application,
        String host,
        Map<String, String> versions,
        Duration uptime,
        List<NodeInfo.Listener> listeners) {

    public NodeReport {
        versions = Map.copyOf(versions);
        listeners = List.copyOf(listeners);
    }
}
