package io.easykit.delayqueue.test.autoconfigure;

import io.easykit.delayqueue.engine.ListenerContainer;
import io.easykit.delayqueue.listener.DelayListenerRegistry;
import io.easykit.delayqueue.test.DelayQueueTester;
import io.easykit.delayqueue.test.TestQueueParts;
import java.util.List;
import org.springframework.context.ApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestExecutionListener;

/** Resets the queue after each test method, because other tests share the application context. */
final class ResetDelayQueueTestExecutionListener implements TestExecutionListener, Ordered {

    /** After the roll-back of the test's transaction, which may cancel messages: listeners end in the opposite order. */
    private static final int ORDER = 3500;

    /** A listener before the test method. */
    private record Before(ListenerContainer container, boolean isRunning, boolean isPaused) {

        void restore() {
            if (isRunning) {
                container.start();
            } else {
                container.stop();
            }
            if (isPaused) {
                container.pause();
            } else {
                container.resume();
            }
        }
    }

    /** Of a test method that runs. */
    private record States(List<Before> all) {

        static final String NAME = States.class.getName();
    }

    @Override
    public int getOrder() {
        return ORDER;
    }

    @Override
    public void beforeTestMethod(TestContext testContext) {
        if (hasTester(testContext)) {
            ApplicationContext context = testContext.getApplicationContext();
            testContext.setAttribute(States.NAME, states(context));
            // The context may be as old as an earlier test class.
            context.getBean(TestQueueParts.class).startAtPresent();
        }
    }

    @Override
    public void afterTestMethod(TestContext testContext) {
        if (!hasTester(testContext)) {
            return;
        }
        try {
            testContext.getApplicationContext().getBean(DelayQueueTester.class).reset();
        } finally {
            if (testContext.removeAttribute(States.NAME) instanceof States states) {
                states.all().forEach(Before::restore);
            }
        }
    }

    private static boolean hasTester(TestContext testContext) {
        return testContext.hasApplicationContext()
                && testContext
                                .getApplicationContext()
                                .getBeanProvider(TestQueueParts.class)
                                .getIfUnique()
                        != null;
    }

    private static States states(ApplicationContext context) {
        DelayListenerRegistry registry =
                context.getBeanProvider(DelayListenerRegistry.class).getIfUnique();
        List<ListenerContainer> containers = registry == null ? List.of() : registry.containers();
        return new States(containers.stream()
                .map(container -> new Before(container, container.isRunning(), container.isPaused()))
                .toList());
    }
}
