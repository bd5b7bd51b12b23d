/** The actuator endpoint {@code easycache}, and the health of each Redis. No type is API; all may change in any release. */
@NullMarked
package io.easykit.cache.actuate;

import org.jspecify.annotations.NullMarked;
