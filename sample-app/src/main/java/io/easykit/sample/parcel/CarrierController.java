package io.easykit.sample.parcel;

import io.easykit.sample.parcel.CarrierClient.Booking;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotNull;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Stands in for a carrier: two bookings a second, more are answered with 429. */
@RestController
@RequestMapping("/carrier")
class CarrierController {

    private static final int LIMIT = 2;
    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    private final Map<String, String> numbers = new HashMap<>();
    private final Deque<Long> latest = new ArrayDeque<>();
    private boolean open = true;
    private long refused;

    /** Books an order's parcel once. */
    @PostMapping("/parcels/{order}")
    synchronized ResponseEntity<?> book(@PathVariable String order) {
        if (!open) {
            return ResponseEntity.of(ProblemDetail.forStatusAndDetail(HttpStatus.FORBIDDEN, "The account is closed"))
                    .build();
        }
        if (!numbers.containsKey(order) && !mayBook(System.nanoTime())) {
            refused++;
            return ResponseEntity.status(HttpStatus.TOO_MANY_REQUESTS)
                    .header(HttpHeaders.RETRY_AFTER, "1")
                    .build();
        }
        return ResponseEntity.ok(new Booking(numbers.computeIfAbsent(order, id -> "P-" + (numbers.size() + 1))));
    }

    private boolean mayBook(long now) {
        while (!latest.isEmpty() && now - latest.getFirst() >= SECOND) {
            latest.removeFirst();
        }
        if (latest.size() == LIMIT) {
            return false;
        }
        latest.addLast(now);
        return true;
    }

    @GetMapping
    synchronized Carrier state() {
        return new Carrier(open, numbers.size(), refused);
    }

    /** Opens or closes the shop's account. A closed one refuses each booking. */
    @PutMapping
    synchronized Carrier put(@Valid @RequestBody Change change) {
        open = change.open();
        return state();
    }

    /**
     * @param open whether the shop's account is open
     * @param refused number of answers with 429
     */
    record Carrier(boolean open, int booked, long refused) {}

    record Change(@NotNull Boolean open) {}
}
