package io.easykit.cache.autoconfigure;

import io.easykit.test.LogLinesContract;

class DocumentedLogLinesTests extends LogLinesContract {

    DocumentedLogLinesTests() {
        super("easy-cache/operations.md", "delay-queue", "easykit-console");
    }
}
