/** delay-queue in a Spring Boot application: settings under {@code delay-queue}, and the beans that follow from them. */
@NullMarked
package io.easykit.delayqueue.autoconfigure;

import org.jspecify.annotations.NullMarked;
