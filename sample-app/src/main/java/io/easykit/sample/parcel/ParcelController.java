package io.easykit.sample.parcel;

import java.util.List;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/parcels")
class ParcelController {

    private final ParcelRepository parcels;

    ParcelController(ParcelRepository parcels) {
        this.parcels = parcels;
    }

    @GetMapping("/{orderId}")
    ResponseEntity<Parcel> get(@PathVariable String orderId) {
        return ResponseEntity.of(parcels.find(orderId));
    }

    /** Returns those that could not be booked. */
    @GetMapping("/failed")
    List<Parcel> failed() {
        return parcels.failed();
    }
}
