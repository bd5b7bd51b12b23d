package io.easykit.delayqueue.time;

/** Makes threads that outlive the work of their creator. */
public final class DetachedThread {

    private DetachedThread() {}

    /**
     * A daemon thread that has not been started. It has no InheritableThreadLocals of the present thread, such as a tenant, but its
     * context class loader, without which it would not find the classes of an executable jar. JDK 19 and later leave out both.
     */
    public static Thread of(String name, Runnable task) {
        Thread thread = new Thread(null, task, name, 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(Thread.currentThread().getContextClassLoader());
        return thread;
    }
}
