package io.easykit.boot;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;

class BeanChoiceTests {

    private final DefaultListableBeanFactory parent = new DefaultListableBeanFactory();
    private final DefaultListableBeanFactory child = new DefaultListableBeanFactory(parent);

    private static RootBeanDefinition add(DefaultListableBeanFactory context, String name) {
        RootBeanDefinition definition = new RootBeanDefinition(String.class, () -> name);
        context.registerBeanDefinition(name, definition);
        return definition;
    }

    @Test
    void leavesOutBeansOfAParentThatAreNoDefaultCandidates() {
        add(parent, "special").setDefaultCandidate(false);

        assertThat(BeanChoice.of(parent, String.class).names()).isEmpty();
        assertThat(BeanChoice.of(child, String.class).names()).isEmpty();
        assertThat(BeanChoice.nearest(child, String.class).names()).isEmpty();
    }

    @Test
    void prefersThePrimaryBeanOfAParent() {
        add(parent, "usual").setPrimary(true);
        add(parent, "special");

        assertThat(BeanChoice.of(child, String.class).names()).containsExactly("usual");
        assertThat(BeanChoice.several(child, String.class)).isEmpty();
    }

    @Test
    void findsTheBeansOfTheNearestContext() {
        add(parent, "ofTheParent");
        assertThat(BeanChoice.nearest(child, String.class).names()).containsExactly("ofTheParent");

        add(child, "ofTheChild");
        assertThat(BeanChoice.nearest(child, String.class).names()).containsExactly("ofTheChild");
        assertThat(BeanChoice.of(child, String.class).names()).containsExactlyInAnyOrder("ofTheParent", "ofTheChild");
        assertThat(BeanChoice.nearest(child, String.class).problems(String.class))
                .isEmpty();
    }

    @Test
    void singletonsWithoutADefinitionAreCandidates() {
        parent.registerSingleton("byHand", "byHand");

        assertThat(BeanChoice.of(child, String.class).names()).containsExactly("byHand");
    }

    @Test
    void reportsSeveralBeansOfWhichNoneIsPrimary() {
        add(child, "one");
        add(child, "two");

        assertThat(BeanChoice.several(child, String.class))
                .singleElement()
                .satisfies(problem -> assertThat(problem.remedy()).contains("@Primary"));
    }
}
