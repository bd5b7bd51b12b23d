/** Takes the scope of a load along with Micrometer's context propagation. No type is API; all may change in any release. */
@NullMarked
package io.easykit.cache.micrometer;

import org.jspecify.annotations.NullMarked;
