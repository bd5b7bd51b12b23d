package io.easykit.benchmarks.measure;

import io.easykit.test.RedisServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * The share of the calls of each command that comes from clients. The others come from scripts.
 * {@code INFO commandstats} does not distinguish them. {@code MONITOR} does, but it is too expensive during a
 * measurement. So the shares are taken from a sample of the same work.
 */
public final class ClientShares {

    private final Map<String, Integer> all = new HashMap<>();
    private final Map<String, Integer> fromClients = new HashMap<>();

    private ClientShares() {}

    /** Watches the commands of Redis while the work runs. */
    public static ClientShares during(RedisServer redis, Runnable work) {
        ClientShares shares = new ClientShares();
        try (Socket socket = new Socket(redis.host(), redis.port())) {
            socket.getOutputStream().write("MONITOR\r\n".getBytes(StandardCharsets.UTF_8));
            BufferedReader lines =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
            lines.readLine();
            CompletableFuture<Void> reading = CompletableFuture.runAsync(() -> shares.read(lines));
            work.run();
            socket.shutdownInput();
            reading.join();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return shares;
    }

    /** For an unseen command: all, because scripts rarely call rare commands. */
    double of(String command) {
        int calls = all.getOrDefault(command, 0);
        return calls == 0 ? 1 : (double) fromClients.getOrDefault(command, 0) / calls;
    }

    private void read(BufferedReader lines) {
        try {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                note(line);
            }
        } catch (SocketException closed) {
            // The end of the sample.
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** {@code +1339518083.107412 [0 127.0.0.1:60866] "GET" "key"}, or {@code [0 lua]} for a call of a script. */
    private void note(String line) {
        int from = line.indexOf('[');
        int to = line.indexOf("] \"", from);
        int end = line.indexOf('"', to + 3);
        if (from < 0 || to < 0 || end < 0) {
            return;
        }
        String command = line.substring(to + 3, end).toLowerCase(Locale.ROOT);
        all.merge(command, 1, Integer::sum);
        if (!line.substring(from, to).endsWith(" lua")) {
            fromClients.merge(command, 1, Integer::sum);
        }
    }
}
