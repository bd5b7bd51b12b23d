package io.easykit.cache.type;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import org.junit.jupiter.api.Test;

class ImmutableTypesTests {

    record Point(int x, int y) {}

    /** Such as that of a former run of the application in the same JVM. */
    @Test
    void keepsNoClassLoaderInMemory() throws Exception {
        WeakReference<ClassLoader> loader = useInAnotherLoader();

        await().until(() -> {
            System.gc();
            return loader.get() == null;
        });
    }

    private static WeakReference<ClassLoader> useInAnotherLoader() throws IOException, ClassNotFoundException {
        URL classes = Point.class.getProtectionDomain().getCodeSource().getLocation();
        try (URLClassLoader own = new URLClassLoader(new URL[] {classes}, ClassLoader.getPlatformClassLoader())) {
            Class<?> point = own.loadClass(Point.class.getName());
            assertThat(point.getClassLoader()).isSameAs(own);
            assertThat(ImmutableTypes.contain(point)).isTrue();
            return new WeakReference<>(own);
        }
    }
}
