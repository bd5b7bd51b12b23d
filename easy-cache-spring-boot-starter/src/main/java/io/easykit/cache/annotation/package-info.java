/** Annotations for the methods of an application. */
@NullMarked
package io.easykit.cache.annotation;

import org.jspecify.annotations.NullMarked;
