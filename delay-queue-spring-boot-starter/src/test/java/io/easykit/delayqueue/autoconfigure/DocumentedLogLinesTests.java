package io.easykit.delayqueue.autoconfigure;

import io.easykit.test.LogLinesContract;

class DocumentedLogLinesTests extends LogLinesContract {

    DocumentedLogLinesTests() {
        super("delay-queue/operations.md", "easy-cache", "easykit-console");
    }
}
