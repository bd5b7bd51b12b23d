package io.easykit.boot;

import java.net.InetAddress;
import java.net.UnknownHostException;

/** The name of this process for operators. */
public final class ThisProcess {

    private ThisProcess() {}

    /** Host and process id, such as {@code shop-1@4711}. */
    public static String name() {
        String host;
        try {
            host = InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException unknown) {
            host = "localhost";
        }
        return host + "@" + ProcessHandle.current().pid();
    }
}
