/**
 * Spring Boot support shared by both starters: binds settings and reports all mistakes at once. Contains no product
 * logic.
 *
 * <p>Of this package these types are for applications: {@link InvalidConfigurationException} ({@link Explained}) with its
 * {@link Problem}s, which a failed start throws; {@link AuditKeeper}, of which a bean receives the audit; and {@link SchemaMode}, the
 * values of a setting. All other types are for the modules of this library, and may change in any release.
 */
@NullMarked
package io.easykit.boot;

import org.jspecify.annotations.NullMarked;
