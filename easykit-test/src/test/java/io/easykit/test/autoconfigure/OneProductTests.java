package io.easykit.test.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.autoconfigure.EasyCacheAutoConfiguration;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.test.EasyCacheTester;
import io.easykit.delayqueue.autoconfigure.DelayQueueAutoConfiguration;
import io.easykit.delayqueue.test.DelayQueueTester;
import java.io.File;
import java.lang.reflect.Method;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.TestContextManager;

/** The kit works on a class path with one of the two products. */
class OneProductTests {

    /** A test that uses neither. It loads all listeners and customizers of the kit. */
    @ContextConfiguration(classes = PlainTest.Plain.class)
    static class PlainTest {

        @Configuration(proxyBeanMethods = false)
        static class Plain {}

        void test() {}

        /** Called in another class loader. */
        static void run() throws Exception {
            TestContextManager manager = new TestContextManager(PlainTest.class);
            PlainTest test = new PlainTest();
            Method method = PlainTest.class.getDeclaredMethod("test");
            manager.beforeTestClass();
            manager.prepareTestInstance(test);
            manager.beforeTestMethod(test, method);
            manager.afterTestMethod(test, method, null);
            manager.afterTestClass();
        }
    }

    /** Called in another class loader. */
    static final class Testers {

        static void queue() {
            try (DelayQueueTester queue = DelayQueueTester.create()) {
                queue.template().send("topic", "x");
                queue.runDue();
            }
        }

        static void cache() {
            try (EasyCacheTester cache = EasyCacheTester.create()) {
                cache.advance(Duration.ofSeconds(1));
            }
        }
    }

    private static Path placeOf(Class<?> type) throws Exception {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    }

    /** The class path of this test without some of its parts. */
    private static URLClassLoader without(Class<?>... parts) throws Exception {
        Set<Path> hidden = new HashSet<>();
        for (Class<?> part : parts) {
            hidden.add(placeOf(part));
        }
        List<URL> urls = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            if (!entry.isEmpty() && !hidden.contains(Path.of(entry).toAbsolutePath())) {
                urls.add(url(entry));
            }
        }
        return new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
    }

    private static URL url(String entry) throws MalformedURLException {
        return Path.of(entry).toUri().toURL();
    }

    private static void run(ClassLoader classes, Class<?> type, String name) throws Exception {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(classes);
        try {
            Method method = classes.loadClass(type.getName()).getDeclaredMethod(name);
            method.setAccessible(true);
            method.invoke(null);
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    @Test
    void worksWithoutEasyCache() throws Exception {
        try (URLClassLoader classes = without(EasyCacheEngine.class, EasyCacheAutoConfiguration.class)) {
            assertThatThrownBy(() -> classes.loadClass(EasyCacheEngine.class.getName()))
                    .isInstanceOf(ClassNotFoundException.class);
            run(classes, PlainTest.class, "run");
            run(classes, Testers.class, "queue");
        }
    }

    @Test
    void worksWithoutTheStarterOfTheDelayQueue() throws Exception {
        try (URLClassLoader classes = without(DelayQueueAutoConfiguration.class)) {
            assertThatThrownBy(() -> classes.loadClass(DelayQueueAutoConfiguration.class.getName()))
                    .isInstanceOf(ClassNotFoundException.class);
            assertThat(classes.loadClass(EasyCacheAutoConfiguration.class.getName()))
                    .isNotNull();
            run(classes, PlainTest.class, "run");
            run(classes, Testers.class, "cache");
        }
    }
}
