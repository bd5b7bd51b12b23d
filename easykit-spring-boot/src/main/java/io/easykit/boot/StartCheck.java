package io.easykit.boot;

import java.util.List;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * The checks of one product while the application starts. The bean must not depend on other beans: it is created before
 * them.
 *
 * @see StartReport
 */
public interface StartCheck {

    /** Checks the settings and the defined beans, before any bean is created. Must not create beans. */
    List<Problem> settings(ConfigurableListableBeanFactory beans);

    /**
     * Checks annotated methods by the types of bean definitions. Called only if settings are wrong, so that no bean is
     * created with them. Methods of a class that is known only to its factory method are not found.
     */
    default List<Problem> declaredTypes(ConfigurableListableBeanFactory beans) {
        return List.of();
    }

    /** Checks annotated methods after all singletons are created. */
    default List<Problem> declarations() {
        return List.of();
    }

    /** Called if no product has found a problem. */
    default void passed() {}
}
