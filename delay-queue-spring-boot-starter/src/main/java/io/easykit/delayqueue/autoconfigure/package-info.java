/** Integrates delay-queue into Spring Boot: settings under {@code delay-queue}, and the beans built from them. */
@NullMarked
package io.easykit.delayqueue.autoconfigure;

import org.jspecify.annotations.NullMarked;
