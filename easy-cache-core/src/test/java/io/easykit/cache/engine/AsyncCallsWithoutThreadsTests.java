package io.easykit.cache.engine;

/** The same calls over a store that needs no thread that waits: reads hold none. */
class AsyncCallsWithoutThreadsTests extends AsyncCallsTests {

    @Override
    Workbench workbench() {
        Workbench bench = super.workbench();
        bench.store.answeringLater();
        return bench;
    }
}
