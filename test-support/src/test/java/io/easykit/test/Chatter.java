package io.easykit.test;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** The program of the child in {@link ChildJvmTests}. */
final class Chatter {
    private Chatter() {}

    /**
     * With two arguments, ends with the second as its exit code; otherwise sends a byte to each client that connects.
     */
    public static void main(String[] arguments) throws IOException {
        for (String argument : arguments) {
            System.out.println("argument " + argument);
        }
        if (arguments.length == 2) {
            System.exit(Integer.parseInt(arguments[1]));
        }
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("bye")));
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            System.out.println("port " + server.getLocalPort());
            while (true) {
                try (Socket client = server.accept()) {
                    client.getOutputStream().write(42);
                }
            }
        }
    }
}
