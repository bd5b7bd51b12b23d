package io.easykit.test;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.URLClassLoader;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** What threads of this library have of their creator. Each module that makes threads has a test of it. */
public abstract class DetachedThreadContract {

    /** A thread of the module that has not been started. */
    protected abstract Thread thread(String name, Runnable task);

    /** In an executable jar the class loader of the system does not know the application. */
    @Test
    void hasTheClassLoaderOfItsCreatorAndNoThreadLocals() throws Exception {
        InheritableThreadLocal<String> tenant = new InheritableThreadLocal<>();
        AtomicReference<ClassLoader> loader = new AtomicReference<>();
        AtomicReference<String> inherited = new AtomicReference<>();
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        try (URLClassLoader own = new URLClassLoader(new URL[0], before)) {
            tenant.set("one");
            Thread.currentThread().setContextClassLoader(own);
            Thread thread = thread("detached", () -> {
                loader.set(Thread.currentThread().getContextClassLoader());
                inherited.set(tenant.get());
            });
            assertThat(thread.isDaemon()).isTrue();
            assertThat(thread.getName()).isEqualTo("detached");

            thread.start();
            thread.join();

            assertThat(loader.get()).isSameAs(own);
            assertThat(inherited.get()).isNull();
        } finally {
            Thread.currentThread().setContextClassLoader(before);
            tenant.remove();
        }
    }
}
