package io.easykit.console.cache;

import io.easykit.cache.Availability;
import io.easykit.cache.EasyCache;
import io.easykit.cache.OutboxBacklog;
import io.easykit.console.ConsoleApi;
import io.easykit.console.Input;
import io.easykit.console.Refusal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The cache in the console: the state of its Redis clusters on this node. */
public final class CacheApi implements ConsoleApi {

    private final EasyCache cache;

    public CacheApi(EasyCache cache) {
        this.cache = cache;
    }

    @Override
    public Set<String> features() {
        return Set.of("caches");
    }

    @Override
    public Map<String, Read> reads() {
        return Map.of("caches", (request, caller) -> clusters());
    }

    @Override
    public Map<String, Change> changes() {
        return Map.of("force", (input, caller) -> force(input));
    }

    private Map<String, Object> clusters() {
        List<Map<String, @Nullable Object>> clusters = new ArrayList<>();
        for (String id : new TreeSet<>(cache.clusterIds())) {
            Availability availability = availability(id);
            Map<String, @Nullable Object> cluster = new LinkedHashMap<>();
            cluster.put("cluster", id);
            cluster.put("state", availability.state());
            cluster.put("forced", availability.forced().isPresent());
            cluster.put("nodes", availability.nodes());
            cluster.put("undelivered", cache.undelivered(id));
            OutboxBacklog outbox = cache.outboxBacklog(id);
            cluster.put(
                    "outbox",
                    outbox == null
                            ? null
                            : Map.of(
                                    "count",
                                    outbox.waiting(),
                                    "oldest",
                                    outbox.oldest().toMillis()));
            clusters.add(cluster);
        }
        Map<String, Object> reply = new LinkedHashMap<>();
        reply.put("clusters", clusters);
        return reply;
    }

    private Planned force(Input input) {
        String id = input.required("cluster");
        String state = input.required("state");
        Availability availability = availability(id);
        Runnable act =
                switch (state) {
                    case "AVAILABLE" -> () -> availability.force(Availability.State.AVAILABLE);
                    case "UNAVAILABLE" -> () -> availability.force(Availability.State.UNAVAILABLE);
                    case "AUTO" -> availability::reset;
                    default -> throw new Refusal(400, "There is no such state.", "Use AVAILABLE, UNAVAILABLE or AUTO.");
                };
        return new Planned(id, List.of(), state, () -> {
            act.run();
            return Done.of(Map.of("state", availability.state()));
        });
    }

    private Availability availability(String id) {
        Availability availability = cache.availability(id);
        if (availability == null) {
            throw new Refusal(404, "There is no such Redis cluster.", "Use one of " + cache.clusterIds() + ".");
        }
        return availability;
    }
}
