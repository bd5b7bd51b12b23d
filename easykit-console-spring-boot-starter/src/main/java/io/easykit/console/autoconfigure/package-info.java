/** Settings and auto-configuration of the console, for Spring MVC and WebFlux. */
@NullMarked
package io.easykit.console.autoconfigure;

import org.jspecify.annotations.NullMarked;
