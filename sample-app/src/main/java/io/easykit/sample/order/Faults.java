package io.easykit.sample.order;

import java.io.UncheckedIOException;
import java.net.SocketTimeoutException;
import java.util.EnumMap;
import java.util.Map;
import org.springframework.stereotype.Component;

/** Makes the closing of chosen orders fail until their fault is fixed. All faults are there at the start. */
@Component
public class Faults {

    private final EnumMap<Fault, Boolean> broken = new EnumMap<>(Fault.class);

    Faults() {
        for (Fault fault : Fault.values()) {
            broken.put(fault, true);
        }
    }

    synchronized Map<Fault, Boolean> all() {
        return new EnumMap<>(broken);
    }

    synchronized void set(Fault fault, boolean isBroken) {
        broken.put(fault, isBroken);
    }

    private synchronized boolean isBroken(Fault fault) {
        return Boolean.TRUE.equals(broken.get(fault));
    }

    void check(Fault fault, String orderId) {
        if (isBroken(fault)) {
            switch (fault) {
                case WAREHOUSE -> reserveSlot(orderId);
                case PRICING -> convertPrice(orderId);
                case CARRIER -> callCarrier(orderId);
            }
        }
    }

    private static void reserveSlot(String orderId) {
        throw new IllegalStateException("Warehouse 7 has no free slot for the return of order " + orderId);
    }

    private static void convertPrice(String orderId) {
        throw new ArithmeticException("The exchange rate of order '" + orderId + "' is 0");
    }

    private static void callCarrier(String orderId) {
        throw new UncheckedIOException(
                "The pick-up of order " + orderId + " was not cancelled",
                new SocketTimeoutException("no reply from carrier.example within 2000 ms"));
    }
}
