package io.easykit.sample.order;

import jakarta.validation.Valid;
import jakarta.validation.constraints.NotNull;
import java.util.Map;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/faults")
class FaultController {

    private final Faults faults;

    FaultController(Faults faults) {
        this.faults = faults;
    }

    /** Returns whether each of them is out of order. */
    @GetMapping
    Map<Fault, Boolean> all() {
        return faults.all();
    }

    @PutMapping("/{fault}")
    Map<Fault, Boolean> put(@PathVariable Fault fault, @Valid @RequestBody Change change) {
        faults.set(fault, change.broken());
        return faults.all();
    }

    record Change(@NotNull Boolean broken) {}
}
