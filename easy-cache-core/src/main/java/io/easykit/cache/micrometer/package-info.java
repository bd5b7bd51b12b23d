/** Takes the scope of a load along with Micrometer's context propagation. */
@NullMarked
package io.easykit.cache.micrometer;

import org.jspecify.annotations.NullMarked;
