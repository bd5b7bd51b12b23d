package io.easykit.delayqueue.listener;

import io.easykit.boot.BeanChoice;
import io.easykit.delayqueue.time.VirtualTime;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/** A remedy for tests, whose slices lack beans of the application. */
public final class SliceRemedy {

    private SliceRemedy() {}

    /** Returns a further sentence of a remedy, or nothing outside of tests: time is virtual in them only. */
    public static String of(ConfigurableListableBeanFactory beans, String remedy) {
        return BeanChoice.of(beans, VirtualTime.class).names().isEmpty() ? "" : " " + remedy;
    }
}
