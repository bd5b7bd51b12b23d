/**
 * The console in the browser: pages, rules of access, audit, and the JSON API that the products fill.
 *
 * <p>No type is API; all may change in any release.
 */
@NullMarked
package io.easykit.console;

import org.jspecify.annotations.NullMarked;
