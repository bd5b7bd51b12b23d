/** What one writes on methods. */
@NullMarked
package io.easykit.cache.annotation;

import org.jspecify.annotations.NullMarked;
