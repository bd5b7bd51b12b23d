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
 * Runs each server in a container, all of them in the network of one more container, the anchor.
 *
 * <p>A replica or a cluster node has one address, by which its peers inside and the clients outside must both reach it.
 * In the anchor's network every server reaches every other one at 127.0.0.1, and the anchor publishes each port under
 * its own number, so that the same address is right for everybody, also where Docker runs in a virtual machine. As the
 * anchor stays when a server is killed, the port stays too.
 */
final class ContainerBackend implements RedisBackend {
    /** How many servers one JVM may run at a time; each published port costs a small process of Docker's. */
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
        // Redis insists on listening somewhere, and nobody comes by here.
        this.anchor = new GenericContainer<>(DockerImageName.parse(image))
                .withCommand("redis-server", "--save", "", "--port", "0", "--unixsocket", "/tmp/anchor.sock")
                .withCreateContainerCmdModifier(command -> command.withExposedPorts(exposed(ports))
                        .withHostConfig(new HostConfig().withPortBindings(published(ports))));
    }

    /**
     * Starts the anchor, for which Testcontainers fetches the image where the engine lacks it.
     *
     * @throws RuntimeException of many kinds, where the engine cannot run the image
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

    /** A sentinel refuses to start without a file to which it can write its state. */
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
                    "All " + PORTS + " ports for containers are in use; close servers that no test needs any more");
        }
        return port;
    }

    private static List<Integer> pickPorts() {
        return Stream.generate(Ports::free).distinct().limit(PORTS).toList();
    }

    private static List<ExposedPort> exposed(List<Integer> ports) {
        return ports.stream().map(ExposedPort::tcp).toList();
    }

    /** Nobody but this machine reaches the ports, unless the engine is another machine. */
    private List<PortBinding> published(List<Integer> ports) {
        return ports.stream()
                .map(port -> new PortBinding(
                        host.equals(LOOPBACK) ? Binding.bindIpAndPort(LOOPBACK, port) : Binding.bindPort(port),
                        ExposedPort.tcp(port)))
                .toList();
    }

    /** By these Testcontainers' reaper finds what to remove after a JVM that was killed. */
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
            Waiting.until(END_WITHIN, () -> !isRunning(), () -> "Container " + id + " survived its killing");
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

        /** Always: the port leads into the network of this JVM's own anchor. */
        @Override
        public boolean owns(Map<String, String> serverInfo) {
            return true;
        }

        @Override
        public String log() {
            return LogUtils.getOutput(docker, id);
        }

        /** The port goes to the end of the queue: a client that has not yet noticed shall not meet another server. */
        @Override
        public void close() {
            try {
                docker.removeContainerCmd(id)
                        .withForce(true)
                        .withRemoveVolumes(true)
                        .exec();
            } catch (NotFoundException e) {
                // Testcontainers' own cleaning was quicker.
            }
            freePorts.add(port);
        }
    }
}
