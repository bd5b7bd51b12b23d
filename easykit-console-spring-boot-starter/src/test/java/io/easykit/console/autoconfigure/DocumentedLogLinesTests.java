package io.easykit.console.autoconfigure;

import io.easykit.test.LogLinesContract;

/** The pages of the products explain the lines of the modules that the console shares with them. */
class DocumentedLogLinesTests extends LogLinesContract {

    DocumentedLogLinesTests() {
        super("console.md", "easy-cache", "delay-queue", "easykit-redis", "easykit-spring-boot", "easykit-test");
    }
}
