package io.easykit.test;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.exception.NotFoundException;
import com.github.dockerjava.api.model.ExposedPort;
import com.github.dockerjava.api.model.HostConfig;
import com.github.dockerjava.api.model.PortBinding;
import com.github.dockerjava.api.model.Ports.Binding;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.utility.DockerImageName;
import org.testcontainers.utility.LogUtils;

/**
 * Runs each server in a container. All of them share the network of one more container, the anchor.
 *
 * <p>A replica or cluster node has one address, which must work for its peers inside and for clients outside. In the
 * anchor's network every server reaches the others at 127.0.0.1, and the anchor publishes each port under the same
 * number. So one address works everywhere, also if Docker runs in a virtual machine. The anchor keeps running when a
 * server is killed, so the port stays reserved.
 */
final class ContainerBackend implements RedisBackend {
    /** Maximum number of servers of one JVM. Each published port costs a small Docker process. */
    private static final int PORTS = 24;

    private static final int PORT_ATTEMPTS = 5;
    private static final Duration END_WITHIN = Duration.ofSeconds(30);
    private static final String LOOPBACK = "127.0.0.1";

    private final String image;
    private final GenericContainer<?> anchor;
    private final String host;
    private final Queue<Integer> freePorts = new ConcurrentLinkedQueue<>();

    private ContainerBackend(String image, List<Integer> ports) {
        this.image = image;
        this.freePorts.addAll(ports);
        String engine = DockerClientFactory.instance().dockerHostIpAddress();
        this.host = engine.equals("localhost") ? LOOPBACK : engine;
        // Redis must listen somewhere; this socket is not used.
        this.anchor = new GenericContainer<>(DockerImageName.parse(image))
                .withCommand("redis-server", "--save", "", "--port", "0", "--unixsocket", "/tmp/anchor.sock")
                .withCreateContainerCmdModifier(command -> command.withExposedPorts(exposed(ports))
                        .withHostConfig(new HostConfig().withPortBindings(published(ports))));
    }

    /**
     * Starts the anchor. Testcontainers pulls the image if the engine does not have it.
     *
     * @throws RuntimeException if the engine cannot run the image; the type varies
     */
    static ContainerBackend open(String image) {
        for (int attempt = 1; ; attempt++) {
            ContainerBackend backend = new ContainerBackend(image, pickPorts());
            try {
                backend.anchor.start();
                return backend;
            } catch (RuntimeException e) {
                backend.anchor.stop();
                if (attempt == PORT_ATTEMPTS || !isPortTaken(e)) {
                    throw e;
                }
            }
        }
    }

    @Override
    public Instance prepare(List<String> arguments) {
        int port = takePort();
        List<String> command =
                new ArrayList<>(List.of("redis-server", "--bind", "0.0.0.0", "--port", String.valueOf(port)));
        command.addAll(arguments);
        return new ContainerInstance(port, command);
    }

    /** A sentinel requires a configuration file to which it can write its state. */
    @Override
    public Instance prepareSentinel(List<String> arguments) {
        int port = takePort();
        String script = "touch /tmp/sentinel.conf && exec redis-server /tmp/sentinel.conf --sentinel"
                + " --bind 0.0.0.0 --protected-mode no --port " + port + " " + String.join(" ", arguments);
        return new ContainerInstance(port, List.of("sh", "-c", script));
    }

    private int takePort() {
        Integer port = freePorts.poll();
        if (port == null) {
            throw new IllegalStateException(
                    "All " + PORTS + " ports for containers are in use. Close servers that are no longer needed.");
        }
        return port;
    }

    private static List<Integer> pickPorts() {
        return Stream.generate(Ports::reserve).distinct().limit(PORTS).toList();
    }

    private static List<ExposedPort> exposed(List<Integer> ports) {
        return ports.stream().map(ExposedPort::tcp).toList();
    }

    /** Ports are bound to the loopback address, unless the engine runs on another machine. */
    private List<PortBinding> published(List<Integer> ports) {
        return ports.stream()
                .map(port -> new PortBinding(
                        host.equals(LOOPBACK) ? Binding.bindIpAndPort(LOOPBACK, port) : Binding.bindPort(port),
                        ExposedPort.tcp(port)))
                .toList();
    }

    /** Testcontainers' reaper uses these labels to remove containers of a killed JVM. */
    private static Map<String, String> labels() {
        Map<String, String> labels = new HashMap<>(DockerClientFactory.DEFAULT_LABELS);
        labels.put(DockerClientFactory.TESTCONTAINERS_SESSION_ID_LABEL, DockerClientFactory.SESSION_ID);
        return labels;
    }

    private static boolean isPortTaken(Throwable e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            String message = String.valueOf(cause.getMessage());
            if (message.contains("port is already allocated") || message.contains("address already in use")) {
                return true;
            }
        }
        return false;
    }

    private final class ContainerInstance implements Instance {
        private final DockerClient docker = anchor.getDockerClient();
        private final int port;
        private final String id;

        ContainerInstance(int port, List<String> command) {
            this.port = port;
            this.id = docker.createContainerCmd(image)
                    .withCmd(command)
                    .withLabels(labels())
                    .withHostConfig(new HostConfig().withNetworkMode("container:" + anchor.getContainerId()))
                    .exec()
                    .getId();
        }

        @Override
        public String host() {
            return host;
        }

        @Override
        public int port() {
            return port;
        }

        @Override
        public void start() {
            docker.startContainerCmd(id).exec();
        }

        @Override
        public void kill() {
            docker.killContainerCmd(id).exec();
            Waiting.until(END_WITHIN, () -> !isRunning(), () -> "Container " + id + " is still running after a kill");
        }

        @Override
        public void pause() {
            docker.pauseContainerCmd(id).exec();
        }

        @Override
        public void resume() {
            docker.unpauseContainerCmd(id).exec();
        }

        @Override
        public boolean isRunning() {
            return Boolean.TRUE.equals(
                    docker.inspectContainerCmd(id).exec().getState().getRunning());
        }

        /** Always true: the port leads into the network of this JVM's anchor. */
        @Override
        public boolean owns(Map<String, String> serverInfo) {
            return true;
        }

        @Override
        public String log() {
            return LogUtils.getOutput(docker, id);
        }

        /**
         * Puts the port at the end of the queue, so that a client that has not noticed the end does not reach another
         * server.
         */
        @Override
        public void close() {
            try {
                docker.removeContainerCmd(id)
                        .withForce(true)
                        .withRemoveVolumes(true)
                        .exec();
            } catch (NotFoundException e) {
                // Testcontainers has already removed it.
            }
            freePorts.add(port);
        }
    }
}
