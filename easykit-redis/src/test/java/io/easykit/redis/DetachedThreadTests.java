package io.easykit.redis;

import io.easykit.test.DetachedThreadContract;

class DetachedThreadTests extends DetachedThreadContract {

    @Override
    protected Thread thread(String name, Runnable task) {
        return DetachedThread.of(name, task);
    }
}
