/** What both starters need from Spring Boot: binding of settings, and one report of all mistakes; no product logic. */
@NullMarked
package io.easykit.boot;

import org.jspecify.annotations.NullMarked;
