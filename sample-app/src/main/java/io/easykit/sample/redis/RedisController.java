package io.easykit.sample.redis;

import jakarta.validation.Valid;
import jakarta.validation.constraints.NotNull;
import java.io.IOException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** Turns the embedded Redis off and on, to try the shop without it. */
@RestController
@RequestMapping("/redis")
class RedisController {

    private final ObjectProvider<EmbeddedRedis> embedded;

    RedisController(ObjectProvider<EmbeddedRedis> embedded) {
        this.embedded = embedded;
    }

    @GetMapping
    Switch get() {
        EmbeddedRedis redis = embedded.getIfAvailable();
        return redis == null ? new Switch(false, true) : new Switch(true, redis.isRunning());
    }

    @PutMapping
    Switch put(@Valid @RequestBody Change change) throws IOException, InterruptedException {
        EmbeddedRedis redis = embedded.getIfAvailable();
        if (redis == null) {
            throw new ResponseStatusException(
                    HttpStatus.CONFLICT,
                    "The shop uses a Redis of its own machine or network: stop and start that one.");
        }
        if (change.running()) {
            redis.turnOn();
        } else {
            redis.turnOff();
        }
        return get();
    }

    /**
     * State of the Redis.
     *
     * @param embedded whether the shop has started it, and can turn it off
     * @param running  whether its process runs; true for a Redis that is not embedded
     */
    record Switch(boolean embedded, boolean running) {}

    record Change(@NotNull Boolean running) {}
}
