package io.easykit.sample.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Finds the process of a Redis started by this shop or an earlier one. It is identified by the password and the
 * configuration file of that start. Then it reports its process id.
 */
final class OwnRedis {

    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private OwnRedis() {}

    /**
     * Returns the process left behind by a start. Empty if nothing, or another program, listens on its port.
     *
     * @throws IllegalStateException if a program on its port accepts connections and does not reply
     */
    static Optional<ProcessHandle> find(RedisFiles.Start start) {
        return identify(start).map(OwnRedis::process);
    }

    /** Returns the process of a start after it has loaded its data. */
    static Optional<ProcessHandle> findReady(RedisFiles.Start start) {
        return identify(start)
                .filter(info -> info.getOrDefault("loading", "").equals("0"))
                .map(OwnRedis::process);
    }

    private static Optional<Map<String, String>> identify(RedisFiles.Start start) {
        try (Socket socket = new Socket()) {
            socket.setSoTimeout((int) PATIENCE.toMillis());
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), start.port()), 5_000);
            BufferedReader answers = new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8));
            send(socket, "AUTH " + start.password());
            if (!"+OK".equals(answers.readLine())) {
                return Optional.empty();
            }
            send(socket, "INFO server");
            Map<String, String> info = section(answers);
            send(socket, "INFO persistence");
            info.putAll(section(answers));
            return Optional.of(info).filter(named -> isOf(start, named));
        } catch (SocketTimeoutException silent) {
            throw new IllegalStateException(
                    "Port " + start.port()
                            + " belongs to the Redis left behind by a killed shop, and the program listening"
                            + " there does not reply. If it is that Redis, end it: two servers would"
                            + " write the same file. Otherwise delete " + start.configuration() + ".",
                    silent);
        } catch (IOException gone) {
            return Optional.empty();
        }
    }

    private static void send(Socket socket, String command) throws IOException {
        socket.getOutputStream().write((command + "\r\n").getBytes(UTF_8));
    }

    /** Reads a bulk string with lines such as {@code process_id:4711}. */
    private static Map<String, String> section(BufferedReader answers) throws IOException {
        Map<String, String> section = new HashMap<>();
        String head = answers.readLine();
        if (head == null || !head.startsWith("$")) {
            return section;
        }
        // The bulk string ends with an additional line break.
        for (String line = answers.readLine(); line != null && !line.isEmpty(); line = answers.readLine()) {
            String[] parts = line.split(":", 2);
            if (parts.length == 2) {
                section.put(parts[0], parts[1]);
            }
        }
        return section;
    }

    private static boolean isOf(RedisFiles.Start start, Map<String, String> info) {
        return Path.of(info.getOrDefault("config_file", "")).equals(start.configuration())
                && info.getOrDefault("process_id", "").matches("\\d{1,18}");
    }

    private static ProcessHandle process(Map<String, String> info) {
        return ProcessHandle.of(Long.parseLong(info.getOrDefault("process_id", "")))
                .orElseThrow(() -> new IllegalStateException("The embedded Redis has ended unexpectedly"));
    }
}
