package io.easykit.trial;

import io.easykit.test.TlsCertificate;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/** A topology with TLS, and a user with the documented permissions of both products only. */
final class SecuredTopology implements Topology {

    private static final String RULE = "ACL SETUSER ";

    private final Topology servers;

    /** @param start starts the servers with these options */
    SecuredTopology(Function<String[], Topology> start) {
        this.servers = start.apply(TlsCertificate.shared().options());
        createUser();
    }

    @Override
    public List<String> settings() {
        return Stream.concat(
                        servers.settings().stream(),
                        Stream.of(
                                "--spring.data.redis.username=shop",
                                "--spring.data.redis.password=secret",
                                "--spring.data.redis.ssl.bundle=redis",
                                "--spring.ssl.bundle.pem.redis.truststore.certificate=file:"
                                        + TlsCertificate.shared().certificate()))
                .toList();
    }

    @Override
    public int shares() {
        return servers.shares();
    }

    @Override
    public int shareOf(String key) {
        return servers.shareOf(key);
    }

    /** A restarted server has lost its users. */
    @Override
    public void awaitHealthy() {
        servers.awaitHealthy();
        createUser();
    }

    @Override
    public Outage strike(Fault fault, int share, String movingKey) {
        return servers.strike(fault, share, movingKey);
    }

    @Override
    public long lastPromotionAt() {
        return servers.lastPromotionAt();
    }

    @Override
    public void onEachServer(String... command) {
        servers.onEachServer(command);
    }

    @Override
    public String version() {
        return servers.version();
    }

    @Override
    public void close() {
        servers.close();
    }

    @Override
    public String toString() {
        return servers + " with TLS and ACL";
    }

    private void createUser() {
        List<String> cluster = servers.shares() == 1 ? List.of() : List.of("+cluster");
        onEachServer(Stream.concat(documentedRule("topologies.md").stream(), cluster.stream())
                .toArray(String[]::new));
    }

    /** Returns the words of the rule on a page of the documentation. */
    static List<String> documentedRule(String page) {
        try (Stream<String> lines = Files.lines(Path.of("..", "docs", page))) {
            return lines.filter(line -> line.startsWith(RULE))
                    .findFirst()
                    .map(rule -> List.of(rule.split(" ", -1)))
                    .orElseThrow();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
