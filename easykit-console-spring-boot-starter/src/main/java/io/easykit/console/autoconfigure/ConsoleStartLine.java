package io.easykit.console.autoconfigure;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.core.env.Environment;

/** Logs once after the start where the console is and for whom, or why it is not served. */
final class ConsoleStartLine implements ApplicationListener<ApplicationReadyEvent> {

    private static final Logger log = LoggerFactory.getLogger("easykit.console");

    private final ServedConsole served;
    private boolean logged;

    ConsoleStartLine(ServedConsole served) {
        this.served = served;
    }

    @Override
    public void onApplicationEvent(ApplicationReadyEvent event) {
        if (logged) {
            return;
        }
        logged = true;
        Environment environment = event.getApplicationContext().getEnvironment();
        String port =
                environment.getProperty("local.management.port", environment.getProperty("local.server.port", ""));
        if ("-1".equals(environment.getProperty("management.server.port"))) {
            log.warn("The console is not served: management.server.port is -1. Set a port to serve it.");
        } else if (served.console() == null) {
            log.warn("The console is not served: {}", served.access());
        } else if (served.open()) {
            log.warn("The console is at {}/ on port {}, open to {}", served.path(), port, served.access());
        } else {
            log.info("The console is at {}/ on port {}, for {}", served.path(), port, served.access());
        }
    }
}
