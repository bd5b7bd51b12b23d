package io.easykit.cache.autoconfigure;

import io.easykit.boot.Problem;
import io.easykit.boot.SettingChecks;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.data.redis.autoconfigure.DataRedisProperties;

/**
 * Checks the settings of a further Redis. Spring Boot would attribute errors to {@code spring.data.redis}, and print
 * the password of a URL.
 */
final class ClusterSettings {

    private static final Duration LONGEST_TIMEOUT = Duration.ofHours(1);
    private static final Set<String> SCHEMES = Set.of("redis", "rediss");
    private static final String NODES_REMEDY = "List nodes as host:port, separated by commas.";

    private final String prefix;
    private final List<Problem> problems = new ArrayList<>();

    private ClusterSettings(String id) {
        this.prefix = prefixOf(id);
    }

    static List<Problem> problems(String id, DataRedisProperties settings) {
        ClusterSettings check = new ClusterSettings(id);
        check.url(settings.getUrl());
        check.place(settings);
        check.sentinel(settings.getSentinel());
        check.cluster(settings.getCluster());
        check.masterReplica(settings.getMasterreplica());
        check.host(settings.getHost());
        check.connectTimeout(settings.getConnectTimeout());
        check.timeout(settings.getTimeout());
        check.clientType(settings.getClientType());
        check.number("port", settings.getPort(), 1, 65_535);
        check.number("database", settings.getDatabase(), 0, Integer.MAX_VALUE);
        return check.problems;
    }

    /** Describes an error of Spring Boot or the driver. Masks passwords in the message. */
    static Problem problem(String id, RuntimeException refused) {
        Throwable root = refused;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        String text =
                Objects.requireNonNullElse(root.getMessage(), root.getClass().getSimpleName());
        return new Problem(
                "The settings " + prefixOf(id) + "* cannot be used: "
                        + text.replaceAll("//[^/\\s]*@", "//******@").replaceFirst("\\.$", "") + ".",
                "Correct them. They have the names and values of spring.data.redis.");
    }

    private static String prefixOf(String id) {
        return SettingChecks.element("easy-cache.clusters", id) + ".";
    }

    private void url(@Nullable String url) {
        if (url == null) {
            return;
        }
        String remedy = "Write redis://user:password@host:port, or rediss:// for TLS, with reserved characters of the"
                + " password percent-encoded.";
        try {
            URI uri = new URI(url);
            if (uri.getScheme() == null || !SCHEMES.contains(uri.getScheme())) {
                add("url", "a URL of the scheme '" + uri.getScheme() + "'", remedy);
            } else if (uri.getHost() == null) {
                add("url", "a URL without a valid host", remedy);
            } else if (uri.getPort() == 0 || uri.getPort() > 65_535) {
                add("url", "a URL with the port " + uri.getPort(), remedy);
            } else if (!uri.getPath().matches("/?|/\\d{1,9}")) {
                add("url", "a URL whose path is not the number of a database", remedy);
            }
        } catch (URISyntaxException unreadable) {
            add("url", "not a URL (" + unreadable.getReason() + ")", remedy);
        }
    }

    private void place(DataRedisProperties settings) {
        List<String> places = Stream.of(
                        settings.getUrl() == null ? null : "url",
                        settings.getSentinel() == null ? null : "sentinel",
                        settings.getCluster() == null ? null : "cluster",
                        settings.getMasterreplica() == null ? null : "masterreplica")
                .filter(Objects::nonNull)
                .map(Objects::requireNonNull)
                .toList();
        if (places.size() > 1) {
            problems.add(new Problem(
                    "The settings " + prefix + "* set several topologies: " + String.join(", ", places) + ".",
                    "Keep one of them."));
        }
    }

    private void sentinel(DataRedisProperties.@Nullable Sentinel sentinel) {
        if (sentinel != null) {
            if (sentinel.getMaster() == null || sentinel.getMaster().isBlank()) {
                add("sentinel.master", "missing", "Set the name of the master as configured in the sentinels.");
            }
            nodes("sentinel.nodes", sentinel.getNodes());
        }
    }

    private void cluster(DataRedisProperties.@Nullable Cluster cluster) {
        if (cluster != null) {
            nodes("cluster.nodes", cluster.getNodes());
            if (cluster.getMaxRedirects() != null) {
                number("cluster.max-redirects", cluster.getMaxRedirects(), 0, 1_000);
            }
        }
    }

    private void masterReplica(DataRedisProperties.@Nullable Masterreplica masterReplica) {
        if (masterReplica != null) {
            nodes("masterreplica.nodes", masterReplica.getNodes());
        }
    }

    private void host(String host) {
        if (host.isBlank() || host.matches(".*[\\s/@].*|[^:]*:\\d*")) {
            add(
                    "host",
                    "'" + host + "', which is not a host name",
                    "Write the name alone. Use the settings port or url for the rest.");
        }
    }

    private void timeout(@Nullable Duration timeout) {
        if (timeout != null && timeout.isNegative()) {
            add("timeout", timeout, "Choose 0s or more, or remove it: easy-cache.command-timeout applies.");
        }
    }

    private void clientType(DataRedisProperties.@Nullable ClientType type) {
        if (type == DataRedisProperties.ClientType.JEDIS) {
            add("client-type", "jedis", "Remove it: the cache uses further clusters through Lettuce.");
        }
    }

    /** It has no effect, as {@code timeout} has none. But Spring Boot makes a factory with it, which the driver may refuse. */
    private void connectTimeout(@Nullable Duration timeout) {
        if (timeout != null
                && (timeout.compareTo(Duration.ofMillis(1)) < 0 || timeout.compareTo(LONGEST_TIMEOUT) > 0)) {
            add("connect-timeout", timeout, "Choose 1ms to 1h, or remove it: easy-cache.command-timeout applies.");
        }
    }

    private void nodes(String name, @Nullable List<String> nodes) {
        if (nodes == null || nodes.isEmpty()) {
            add(name, "missing", NODES_REMEDY);
            return;
        }
        for (String node : nodes) {
            int colon = node.lastIndexOf(':');
            if (colon < 1 || !isPort(node.substring(colon + 1))) {
                add(name, "'" + node + "', which has no port", NODES_REMEDY);
            }
        }
    }

    private static boolean isPort(String text) {
        return text.matches("\\d{1,5}") && Integer.parseInt(text) >= 1 && Integer.parseInt(text) <= 65_535;
    }

    private void number(String name, int value, int least, int most) {
        if (value < least || value > most) {
            add(
                    name,
                    value,
                    most == Integer.MAX_VALUE
                            ? "Choose " + least + " or more."
                            : "Choose " + least + " to " + most + ".");
        }
    }

    private void add(String name, Object value, String remedy) {
        problems.add(Problem.setting(prefix + name, value, remedy));
    }
}
