/** Settings and auto-configuration of the console, for Spring MVC and WebFlux. No type is API; all may change in any release. */
@NullMarked
package io.easykit.console.autoconfigure;

import org.jspecify.annotations.NullMarked;
