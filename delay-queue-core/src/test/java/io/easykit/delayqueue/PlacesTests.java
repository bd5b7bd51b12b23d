package io.easykit.delayqueue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class PlacesTests {

    private final Places places = new Places(3);
    private final AtomicInteger wakes = new AtomicInteger();
    private final Places.Waiter first = new Places.Waiter(wakes::incrementAndGet);
    private final Places.Waiter second = new Places.Waiter(wakes::incrementAndGet);

    @Test
    void givesWhatIsFree() {
        assertThat(places.take(first, 2)).isEqualTo(2);
        assertThat(places.take(first, 2)).isEqualTo(1);
        assertThat(places.take(first, 2)).isZero();
    }

    @Test
    void keepsAFreePlaceForWhomeverHasWaitedLongest() {
        places.take(first, 3);
        places.take(second, 1);
        places.take(first, 1);

        places.giveBack(1);
        assertThat(wakes).hasValue(1);
        assertThat(places.take(first, 1)).isZero();
        assertThat(places.take(second, 3)).isEqualTo(1);

        places.giveBack(1);
        assertThat(places.take(first, 1)).isEqualTo(1);
    }

    @Test
    void passesOnWhatIsDeclined() {
        places.take(first, 3);
        places.take(first, 1);
        places.take(second, 1);
        places.giveBack(1);

        places.decline(first);

        assertThat(wakes).hasValue(2);
        assertThat(places.take(second, 1)).isEqualTo(1);
    }

    @Test
    void losesNoPlaceWhoeverWaits() {
        places.take(first, 3);
        places.take(second, 1);
        places.decline(second);
        places.giveBack(3);

        assertThat(places.take(second, 5)).isEqualTo(3);
    }
}
