package io.easykit.sample.redis;

import java.util.List;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Matches if no Redis is configured in a file, an argument or an environment variable. */
final class NoRedisConfigured implements Condition {

    private static final String PREFIX = "spring.data.redis.";
    private static final List<String> PLACES =
            List.of("host", "port", "url", "sentinel.master", "sentinel.nodes", "cluster.nodes", "masterreplica.nodes");

    @Override
    public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
        Binder binder = Binder.get(context.getEnvironment());
        return PLACES.stream().noneMatch(place -> binder.bind(PREFIX + place, Bindable.listOf(String.class))
                .isBound());
    }
}
