/** Annotations for the methods of an application. */
@NullMarked
package io.easykit.delayqueue.annotation;

import org.jspecify.annotations.NullMarked;
