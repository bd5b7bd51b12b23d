package io.easykit.cache.autoconfigure;

import io.easykit.boot.InvalidConfigurationException;
import io.easykit.boot.Problem;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.store.StoreUnavailableException;
import io.easykit.redis.ErrorReply;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;
import org.springframework.util.StringUtils;

/** Starts and stops the cache. Fails the start if a required Redis does not reply. */
final class EasyCacheLifecycle implements SmartLifecycle {

    static final int PHASE = RedisConnections.PHASE + 1;

    /** The first connection of a JVM may take longer than the command timeout. */
    private static final int ATTEMPTS = 10;

    private final @Nullable EasyCacheEngine cache;
    private final Map<String, RedisConnections> required;
    private volatile boolean running;

    /** @param cache null if a test has replaced the cache, for example by a mock: then nothing is started */
    EasyCacheLifecycle(@Nullable EasyCacheEngine cache, Map<String, RedisConnections> required) {
        this.cache = cache;
        this.required = required;
    }

    @Override
    public void start() {
        if (cache != null) {
            start(cache);
        }
        running = true;
    }

    private void start(EasyCacheEngine started) {
        List<Problem> missing = new ArrayList<>();
        required.forEach(
                (clusterId, connections) -> awaitAnswer(clusterId, connections).ifPresent(missing::add));
        if (!missing.isEmpty()) {
            throw new InvalidConfigurationException(missing);
        }
        started.start();
    }

    @Override
    public void stop() {
        if (cache != null) {
            cache.stop();
        }
        running = false;
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    private static Optional<Problem> awaitAnswer(String clusterId, RedisConnections connections) {
        for (int attempt = 1; ; attempt++) {
            try {
                connections.ping();
                return Optional.empty();
            } catch (StoreUnavailableException away) {
                if (attempt == ATTEMPTS) {
                    return Optional.of(problem(clusterId, away));
                }
            }
        }
    }

    /** An error reply names its remedy, such as a password. */
    private static Problem problem(String clusterId, StoreUnavailableException away) {
        boolean replied = ErrorReply.of(away) != null;
        String reason = StringUtils.trimTrailingCharacter(String.valueOf(away.getMessage()), '.');
        return Problem.setting(
                "easy-cache.require-redis-at-start",
                "true, but Redis '" + clusterId + (replied ? "' refuses this application: " : "' does not reply: ")
                        + reason,
                (replied ? "Correct what the reply names." : "Start that Redis or correct its address.")
                        + " Without this setting the application starts without Redis and recovers by itself.");
    }
}
