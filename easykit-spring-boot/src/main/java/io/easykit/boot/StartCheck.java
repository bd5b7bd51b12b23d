package io.easykit.boot;

import java.util.List;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * What one product checks while the application starts. A bean that depends on no other bean: it is created before them.
 *
 * @see StartReport
 */
public interface StartCheck {

    /** Checks the settings and which beans are defined, before any bean is created. Creates none. */
    List<Problem> settings(ConfigurableListableBeanFactory beans);

    /**
     * Checks annotated methods by the types of bean definitions. Called only if settings are wrong, so that no bean is
     * created with them. Methods of a class that only its factory method knows are not found.
     */
    default List<Problem> declaredTypes(ConfigurableListableBeanFactory beans) {
        return List.of();
    }

    /** Checks annotated methods after all singletons were created. */
    default List<Problem> declarations() {
        return List.of();
    }

    /** Called when no product has found a problem. */
    default void passed() {}
}
