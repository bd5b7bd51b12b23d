package io.easykit.console.autoconfigure;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.util.ClassUtils;

/** Finds out whether Spring Security protects the application: by its filter chains, not by its classes alone. */
final class ConsoleSecurity {

    private static final String[] CHAINS = {
        "org.springframework.security.web.SecurityFilterChain",
        "org.springframework.security.web.server.SecurityWebFilterChain"
    };

    private ConsoleSecurity() {}

    static boolean isPresent(ListableBeanFactory beans) {
        ClassLoader loader = ConsoleSecurity.class.getClassLoader();
        for (String chain : CHAINS) {
            if (ClassUtils.isPresent(chain, loader)
                    && BeanFactoryUtils.beanNamesForTypeIncludingAncestors(
                                            beans, ClassUtils.resolveClassName(chain, loader), true, false)
                                    .length
                            > 0) {
                return true;
            }
        }
        return false;
    }
}
