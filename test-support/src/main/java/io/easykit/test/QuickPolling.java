package io.easykit.test;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * Makes Awaitility poll every 20 ms instead of every 100 ms, in all tests of each module that uses this one. JUnit finds
 * it as a service.
 */
public final class QuickPolling implements LauncherSessionListener {
    private static final Duration INTERVAL = Duration.ofMillis(20);

    @Override
    public void launcherSessionOpened(LauncherSession session) {
        Awaitility.setDefaultPollInterval(INTERVAL);
    }
}
