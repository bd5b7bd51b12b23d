/**
 * Spring Boot support shared by both starters: binds settings and reports all mistakes at once. Contains no product
 * logic.
 */
@NullMarked
package io.easykit.boot;

import org.jspecify.annotations.NullMarked;
