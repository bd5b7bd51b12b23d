package io.easykit.sample.stats;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
class StatsController {

    private final DatabaseReads reads;

    StatsController(DatabaseReads reads) {
        this.reads = reads;
    }

    @GetMapping("/stats")
    DatabaseReads.Stats stats() {
        return reads.stats();
    }
}
